#pragma once
/// @file Measured beside predicted: cases, errors, rankings.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "schedule/memory_label.hpp"
#include "schedule/timeline.hpp"

namespace auspex {

/// One operation name, the mean over ranks of its time in a step.
struct OperationPair {
    std::string name;
    double measured_s = 0, predicted_s = 0;
};

/// One layout, measured and predicted.
struct ComparedCase {
    std::string plan, workload;
    int ranks = 1, nodes = 1;
    std::vector<double> runs_s;  ///< median step of each repeat, slowed and undisturbed alike
    double measured_step_s = 0;  ///< median over repeats
    double noise = 0;            ///< relative spread of runs_s over repeats
    double predicted_step_s = 0;
    double interval_low_s = 0, interval_high_s = 0;  ///< 90 %: of the prediction; summarise() widens them
    double error = 0;                                ///< predicted / measured - 1
    std::vector<double> speeds;  ///< of the cores beside each run, over that of the calibration; empty: not known
    double core_speed = 1;       ///< that the prediction is made with: 1 is that of the calibration
    bool disturbed = false;      ///< probes or runs say that something else ran
    double slowdown = 1;         ///< of the slowest repeat against the fastest one
    double measured_memory_bytes = 0, predicted_memory_bytes = 0;  ///< of the fullest rank: peak of all labels
    std::vector<OperationPair> operations;                         ///< most measured time first
    std::optional<Timeline> measured_timeline, predicted_timeline;

    [[nodiscard]] bool interval_holds() const {
        return interval_low_s <= measured_step_s && measured_step_s <= interval_high_s;
    }
};

struct Comparison {
    std::vector<ComparedCase> cases;
    double median_abs_error = 0, p90_abs_error = 0, max_abs_error = 0;
    double noise_floor = 0;  ///< median of the cases' noise
    double kendall_tau = 1;  ///< of predictions, over pairs further apart than twice the noise
    int tau_pairs = 0;
    double kendall_tau_of_repeats = 1;  ///< the same of one half of the repeats against the other
    double regret_of_predicted_best = 0;
    double spread = 1;  ///< slowest over fastest case, measured
    bool disturbed = false;
    std::vector<std::string> warnings;
    std::vector<OperationPair> operations;  ///< summed over cases
};

/// How much the steps of a run follow the cores' speed beside it: slope of ln(1 / step) over ln(speed), both against
/// the median of their case, over all runs; from 0 (the probes' speeds come and go, steps do not care) to 1. 0 where
/// speeds of cases differ by less than 2 % (root mean square), for then it cannot be told. From measurements only.
[[nodiscard]] double speed_slope(const std::vector<ComparedCase>& cases);
/// The speed to predict each case with: S * (s / S)^slope, s the median of its speeds and S that of the speeds of all
/// runs of one rank, or of all those of several, whose speed is that of the slowest of their cores, from 0.5 to 1.2; 1
/// where `speeds` is empty, or within 2 % of it.
[[nodiscard]] std::vector<double> speeds_to_predict(const std::vector<ComparedCase>& cases);

/// Fills everything in `comparison` that follows from its cases; of a case it reads names, runs, prediction, interval,
/// memory, operations and `disturbed`. A case whose noise is above 5 times the noise floor (and above 2 %) is disturbed
/// too; the upper end of a disturbed case's interval is multiplied by its slowdown. Where the fastest of a case's
/// speeds is more than 8 % above the slowest, cores may have been as fast as the quartiles of the speeds say while the
/// steps of its median run were taken: the lower end is multiplied by (median / 75th percentile)^speed_slope(), the
/// upper one by (median / 25th percentile)^speed_slope(). Rankings are within a workload: pairs of cases of different
/// workloads are not compared. A warning of disturbed cases comes first, one of changing speeds follows. Requires a
/// case, and a run of each.
void summarise(Comparison& comparison);

/// A goal and whether it is reached: "median error 3.1 %, at most 5 %".
struct Verdict {
    std::string text;
    bool holds = false;
};
/// Median error (5 %, or the noise floor), 90th percentile (12 %, or twice the noise floor), tau (0.9, or that of
/// measuring twice), regret (3 % and the noise floor). Requires summarise().
[[nodiscard]] std::vector<Verdict> verdicts_of(const Comparison& comparison);

/// Time of each operation name in a step, the mean over ranks (roles of the tracks), largest first. `predicted_s` of
/// the pairs is 0.
[[nodiscard]] std::vector<OperationPair> operation_times(const Timeline& timeline);
/// Names of both, most measured time first.
[[nodiscard]] std::vector<OperationPair> pair_operations(const std::vector<OperationPair>& measured,
                                                         const std::vector<OperationPair>& predicted);

}  // namespace auspex
