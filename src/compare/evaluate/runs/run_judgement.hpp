#pragma once
/// @file Predictions of published runs against what was measured.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "base/statistics/interval.hpp"
#include "compare/evaluate/error_summary.hpp"
#include "compare/evaluate/published/published_run.hpp"
#include "compare/evaluate/runs/measured_step.hpp"
#include "compare/evaluate/runs/run_traits.hpp"
#include "models/published/published_spread.hpp"
#include "schedule/losses.hpp"

namespace auspex::evaluate {

/// A run with what is predicted of it, or why nothing is.
struct ValidatedRun {
    PublishedRun run;
    std::string machine, stack;  ///< names of files; empty where the case has none here
    std::string why_unmapped;    ///< empty: it was predicted
    MeasuredStep measured;
    double predicted_s = 0;
    Interval constants_s;                           ///< the 90 % interval of constants alone
    std::optional<models::PublishedSpread> spread;  ///< judge_intervals(); nothing: there is none
    double low_s = 0, high_s = 0;                   ///< the 90 % interval with it, by which the case is judged
    schedule::LossTimes losses{};                   ///< what the predicted step is made of
    double predicted_memory_bytes = 0;  ///< where the allocator is played what it reserves, as runs measure it
    double allocated_memory_bytes = 0;  ///< of that, what it hands out; 0 where it is not played
    bool is_corrected = false;          ///< what the case says was changed: RunNames::Correction
    std::vector<Constant> constants;    ///< those of machine and stack that the prediction read
    bool is_fitted = false;             ///< it, or its group, gave a constant
    std::vector<std::string> notes;     ///< what was assumed of the case
    std::string why;                    ///< a reason for its error that people have found; empty: none
    RunTraits traits;
    std::string workload, plan;         ///< what was predicted, as files of this project
    std::vector<std::string> settings;  ///< ROLE.PATH=VALUE of machine and stack

    /// Nothing of the prediction was taken from the case, nor was what it says changed.
    [[nodiscard]] bool is_verified() const { return !is_fitted && !is_corrected; }
    /// predicted / measured - 1. Requires a prediction.
    [[nodiscard]] double error() const { return predicted_s / measured.seconds - 1; }
    [[nodiscard]] bool interval_holds() const { return low_s <= measured.seconds && measured.seconds <= high_s; }
    /// Where memory was measured; that of the fullest tile.
    [[nodiscard]] std::optional<double> memory_error() const;
};

/// Of predicted runs; all 0 where there is none.
struct RunSummary {
    ErrorSummary errors;
    double mape = 0;                ///< mean of |error|
    double coverage = 0;            ///< share of intervals that hold
    double constants_coverage = 0;  ///< the same of constants alone
    double median_half_width = 0;   ///< of intervals, over the predicted step
    int memory_n = 0;
    double memory_mape = 0;
};
[[nodiscard]] RunSummary summary_of(const std::vector<const ValidatedRun*>& runs);

/// What a fitted constant is worth: errors of the verified runs of its stack or machine with it, and with the value
/// that it would have if no run had told.
struct ConstantAblation {
    std::string stack, machine;     ///< one of them
    std::string constant, without;  ///< as RunNames::Fitted has them
    RunSummary with_it, without_it;
    double all_mape = 0, all_mape_without = 0;  ///< of all verified runs
};

/// By group: "all", "verified", "fitted", "machine NAME", "stack NAME", "source NAME", and of verified ones alone
/// "verified, machine NAME". Runs without a prediction count in none.
[[nodiscard]] std::map<std::string, RunSummary> summaries(const std::vector<ValidatedRun>& runs);

/// Predicted runs, the largest |error| first.
[[nodiscard]] std::vector<const ValidatedRun*> worst_first(const std::vector<ValidatedRun>& runs);

}  // namespace auspex::evaluate
