/// @file Runs of a case that count.
#include "compare/evaluate/compared_cases.hpp"

#include <algorithm>

namespace auspex {

bool any_counts(const std::vector<ComparedRun>& runs) {
    return std::any_of(runs.begin(), runs.end(), [](const ComparedRun& run) { return run.counts; });
}

std::vector<double> of_counted(const std::vector<ComparedRun>& runs, double ComparedRun::*value) {
    const bool all = !any_counts(runs);
    std::vector<double> values;
    for (const ComparedRun& run : runs) {
        if (all || run.counts) {
            values.push_back(run.*value);
        }
    }
    return values;
}

std::vector<double> counted_steps_s(const ComparedCase& one) { return of_counted(one.runs, &ComparedRun::step_s); }

}  // namespace auspex
