/// @file Errors by group.
#include "compare/evaluate/runs/run_judgement.hpp"

#include <algorithm>
#include <cmath>

#include "base/statistics/quantiles.hpp"

namespace auspex::evaluate {

std::optional<double> ValidatedRun::memory_error() const {
    return run.measured.peak_memory_bytes > 0
               ? std::optional(predicted_memory_bytes / run.measured.peak_memory_bytes - 1)
               : std::nullopt;
}

RunSummary summary_of(const std::vector<const ValidatedRun*>& runs) {
    RunSummary summary;
    std::vector<double> errors, half_widths;
    for (const ValidatedRun* const one : runs) {
        errors.push_back(one->error());
        half_widths.push_back((one->high_s - one->low_s) / 2 / one->predicted_s);
        summary.mape += std::abs(one->error());
        summary.coverage += one->interval_holds() ? 1 : 0;
        summary.constants_coverage += one->constants_s.holds(one->measured.seconds) ? 1 : 0;
        if (const std::optional<double> memory = one->memory_error()) {
            ++summary.memory_n;
            summary.memory_mape += std::abs(*memory);
        }
    }
    const double n = std::max<double>(1, static_cast<double>(runs.size()));
    summary.errors = summary_of(errors);
    summary.median_half_width = half_widths.empty() ? 0 : median(half_widths);
    summary.mape /= n, summary.coverage /= n, summary.constants_coverage /= n;
    summary.memory_mape /= std::max(1, summary.memory_n);
    return summary;
}

std::map<std::string, RunSummary> summaries(const std::vector<ValidatedRun>& runs) {
    std::map<std::string, std::vector<const ValidatedRun*>> groups;
    for (const ValidatedRun& one : runs) {
        if (!one.why_unmapped.empty()) {
            continue;
        }
        for (const std::string& group :
             {std::string("all"),
              std::string(one.is_fitted      ? "fitted"
                          : one.is_corrected ? "corrected"
                                             : "verified"),
              "machine " + one.machine, "stack " + one.stack, "source " + one.run.source_key}) {
            groups[group].push_back(&one);
        }
        if (one.is_verified()) {
            groups["verified, machine " + one.machine].push_back(&one);
        }
    }
    std::map<std::string, RunSummary> found;
    for (const auto& [group, members] : groups) {
        found[group] = summary_of(members);
    }
    return found;
}

std::vector<const ValidatedRun*> worst_first(const std::vector<ValidatedRun>& runs) {
    std::vector<const ValidatedRun*> sorted;
    for (const ValidatedRun& one : runs) {
        if (one.why_unmapped.empty()) {
            sorted.push_back(&one);
        }
    }
    std::ranges::stable_sort(sorted, std::ranges::greater{},
                             [](const ValidatedRun* one) { return std::abs(one->error()); });
    return sorted;
}

}  // namespace auspex::evaluate
