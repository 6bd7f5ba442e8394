/// @file Errors of a fit, and what its cases tell.
#include "workflows/validate/constants_fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

namespace auspex::workflows {

double FittedConstant::told() const {
    const double share = uncertainty / before.relative_uncertainty;
    return std::max(0.0, 1 - share * share);
}

bool FittedConstant::is_told() const {
    constexpr double kLeast = 0.05;
    return told() >= kLeast;
}

double FittedConstant::moved() const { return std::abs(std::log(value / before.value)) / before.relative_uncertainty; }

std::string name_of_source(const evaluate::PublishedRun& run) {
    return run.source_key.empty() ? run.source : run.source_key;
}

namespace {

/// Of cases that are wanted, with their steps.
evaluate::RunSummary summary_with(const ConstantsFit& fit, const std::function<bool(const CaseOfFit&)>& is_wanted,
                                  const std::function<double(const CaseOfFit&)>& step_s) {
    std::vector<evaluate::ValidatedRun> runs;
    for (const CaseOfFit& one : fit.cases) {
        if (is_wanted(one)) {
            runs.push_back(one.run);
            runs.back().predicted_s = step_s(one);
        }
    }
    std::vector<const evaluate::ValidatedRun*> all;
    std::ranges::transform(runs, std::back_inserter(all), [](const evaluate::ValidatedRun& one) { return &one; });
    return evaluate::summary_of(all);
}

double step_before(const CaseOfFit& one) { return one.run.predicted_s; }
double step_fitted(const CaseOfFit& one) { return one.predicted_s; }
double step_in_turn(const CaseOfFit& one) { return one.in_turn_s; }

}  // namespace

PartOfFit part_of_fit(const ConstantsFit& fit, bool is_held_back) {
    const auto is_wanted = [&](const CaseOfFit& one) { return one.is_held_back == is_held_back; };
    return {summary_with(fit, is_wanted, step_before), summary_with(fit, is_wanted, step_fitted)};
}

std::vector<InTurnErrors> errors_in_turn(const ConstantsFit& fit) {
    std::set<std::string> machines;
    for (const CaseOfFit& one : fit.cases) {
        machines.insert(one.run.machine);
    }
    std::vector<std::string> groups{""};
    if (machines.size() > 1) {
        groups.insert(groups.end(), machines.begin(), machines.end());
    }
    std::vector<InTurnErrors> errors;
    for (const std::string& machine : groups) {
        const auto is_wanted = [&](const CaseOfFit& one) { return machine.empty() || one.run.machine == machine; };
        errors.push_back({machine, summary_with(fit, is_wanted, step_before), summary_with(fit, is_wanted, step_fitted),
                          summary_with(fit, is_wanted, step_in_turn)});
    }
    return errors;
}

}  // namespace auspex::workflows
