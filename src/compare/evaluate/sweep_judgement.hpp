#pragma once
/// @file Predictions of a layout sweep against its measurements: choice, order, memory.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/evaluate/layout_sweep.hpp"

namespace auspex::evaluate {

/// What a prediction says of a row.
struct SweepPrediction {
    std::string refused;  ///< not empty: why the row is no plan for this machine, and the rest is nothing
    double step_time_s = 0;
    double memory_peak_bytes = 0;
    bool fits = false;
};

/// How well the prediction serves to choose among the runs of one model on one number of nodes.
struct SweepCell {
    double params_b = 0;
    int nodes = 0;
    int rows = 0;     ///< of the sweep
    int refused = 0;  ///< of them no plans
    int n = 0;        ///< with a speed that counts, and a prediction: what regret and tau are of
    /// Measured tokens/s of the fastest of the n over those of the one with the fastest prediction among those that are
    /// predicted to fit (among all where none is), minus 1. None where n = 0.
    std::optional<double> regret;
    std::optional<double> kendall_tau;   ///< of measured and predicted tokens/s; none where no two differ
    std::optional<double> median_ratio;  ///< of predicted over measured tokens/s
    std::size_t measured_best = 0, predicted_best = 0;  ///< rows, where n > 0
    int verdicts = 0;                                   ///< ok and oom, with a prediction
    int right = 0;                                      ///< of them
    int said_fits_but_oom = 0, said_oom_but_fits = 0;
    [[nodiscard]] std::optional<double> oom_accuracy() const {
        return verdicts > 0 ? std::optional(static_cast<double>(right) / verdicts) : std::nullopt;
    }
};

struct SweepJudgement {
    std::vector<SweepCell> cells;         ///< by params_b, then nodes
    std::map<std::string, int> refusals;  ///< why, and how many rows
    std::optional<double> median_regret, worst_regret, median_tau, worst_tau, worst_accuracy;  ///< over cells
    int verdicts = 0, right = 0, said_fits_but_oom = 0, said_oom_but_fits = 0;                 ///< over all rows
    [[nodiscard]] std::optional<double> accuracy() const {
        return verdicts > 0 ? std::optional(static_cast<double>(right) / verdicts) : std::nullopt;
    }
};

/// Predictions are of the rows, in their order.
[[nodiscard]] SweepJudgement judge_sweep(const std::vector<SweepRow>& rows,
                                         const std::vector<SweepPrediction>& predictions);

/// Of a row that is a plan.
[[nodiscard]] double predicted_tokens_per_s_per_tile(const SweepRow& row, const SweepPrediction& prediction);

}  // namespace auspex::evaluate
