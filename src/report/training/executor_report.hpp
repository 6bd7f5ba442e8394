#pragma once
/// @file What `auspex verify` has found, as pages, tables and a picture.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/training/loss_chart.hpp"

namespace auspex::report {

/// What may differ, relatively, and no more.
inline constexpr double kAllowedForced = 1e-5;   ///< of losses where every rank is told which experts to choose
inline constexpr double kAllowedLearned = 1e-4;  ///< of losses before the first choice that differs
/// Of gradients' norms where kAllowedForced holds. Rounding of fp32 grows with steps: over 50 of them one rank's norms
/// with micro-batches of 1, 2, 4 and 8 sequences differ by up to 1.7e-6 (toy-moe), 1.1e-5 (toy-shared) and 4.6e-5
/// (toy-latent), their losses by 7e-8.
inline constexpr double kAllowedNorm = 1e-4;

/// The largest learning rate of a check. Above it these small models are trained so hard that rounding grows a
/// thousandfold within fifty steps, and even one rank with another micro-batch size goes its own way.
inline constexpr double kVerifyRate = 1e-3;

/// AdamW's epsilon of runs with forced routing: so large that the step depends on how large gradients are, and not only
/// on their directions.
inline constexpr double kForcedEpsilon = 1e-4;

/// Steps of a recovery case: as many as of a layout, but within these.
inline constexpr int kMinRecoverySteps = 6, kMaxRecoverySteps = 32;

/// One layout against one rank.
struct LayoutCheck {
    std::string workload, grid, choices;
    int ranks = 0;
    std::optional<double> forced;  ///< largest relative difference of the loss: uniform routing, or no experts
    std::optional<double> norm;    ///< of the gradient's norm, in the same run
    std::optional<double> learned, replayed;  ///< up to the first differing choice; with the single rank's choices
    std::optional<int> first_step;            ///< of the first choice that differs
    std::string first_choice;                 ///< in words; "none"
    std::string memory, counts;               ///< the first difference from what was predicted; empty: none
    std::string error;                        ///< of a run that failed
    double seconds = 0;

    [[nodiscard]] bool passed() const;
};

/// A run that was interrupted, or began from what another one left.
struct RecoveryCheck {
    std::string what;    ///< "kill -9 of rank 2, 3 ms into step 7"
    std::string result;  ///< "1 restart; every loss is the uninterrupted run's, bit for bit"
    bool passed = false;
};

/// Bytes of optimizer states on the rank that has most.
struct OptimizerCheck {
    std::string grid, sharding;
    std::uint64_t measured = 0, predicted = 0;
};

struct ExecutorReport {
    std::string command;
    int steps = 0, global_batch = 0;
    int all_layouts = 0;  ///< that there are, asked for or not
    std::vector<LayoutCheck> layouts;
    std::vector<std::string> left_out;  ///< layouts that do not fit, with the reason
    std::vector<RecoveryCheck> recoveries;
    std::vector<OptimizerCheck> optimizers;  ///< sharded, then ep-aware; or empty
    std::vector<LossCurve> curves;           ///< the single rank's first

    [[nodiscard]] bool passed() const;
};

/// "6 of 32 layouts and 13 recovery cases: every one is within ...", or "6 of 32 layouts and 13 recovery cases: not
/// within what is allowed: 1 layout and 0 recovery cases.", or that nothing was compared.
[[nodiscard]] std::string verdict_of(const ExecutorReport& report);
/// A difference as tables show it: "1.2e-07", "0", "-" if there is none.
[[nodiscard]] std::string difference_text(const std::optional<double>& difference);
/// "equal", or the difference.
[[nodiscard]] std::string equality_text(const std::string& difference);

/// Writes DIR/index.html, report.md, layouts.csv, recovery.csv and loss.svg (creating DIR). Throws InputError when it
/// cannot.
void write_executor_report(const ExecutorReport& report, const std::string& directory);

}  // namespace auspex::report
