/// @file Runs of a case that count.
#include "compare/evaluate/compared_cases.hpp"

#include <algorithm>

namespace auspex::evaluate {

bool any_valid(const std::vector<ComparedRun>& runs) {
    return std::any_of(runs.begin(), runs.end(), [](const ComparedRun& run) { return run.is_valid; });
}

std::vector<double> of_valid(const std::vector<ComparedRun>& runs, double ComparedRun::*value) {
    const bool all = !any_valid(runs);
    std::vector<double> values;
    for (const ComparedRun& run : runs) {
        if (all || run.is_valid) {
            values.push_back(run.*value);
        }
    }
    return values;
}

std::vector<double> valid_steps_s(const ComparedCase& one) { return of_valid(one.runs, &ComparedRun::step_s); }

}  // namespace auspex::evaluate
