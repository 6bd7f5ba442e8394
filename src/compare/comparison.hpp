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

/// One run of a layout.
struct ComparedRun {
    double step_s = 0;   ///< median of its steps
    double speed = 0;    ///< of the slowest core during these steps, over that of the calibration; 0: not known
    bool counts = true;  ///< cores had their full speed, and nothing else ran
};

/// One layout, measured and predicted.
struct ComparedCase {
    std::string plan, workload;
    int ranks = 1, nodes = 1;
    std::vector<ComparedRun> runs;  ///< in the order in which they were run
    double measured_step_s = 0;     ///< median of those that count, of all where none does
    double noise = 0;               ///< relative spread of the same runs
    double predicted_step_s = 0;
    double interval_low_s = 0, interval_high_s = 0;  ///< 90 %: of the prediction; summarise() widens them
    double error = 0;                                ///< predicted / measured - 1
    double core_speed = 1;                           ///< that the prediction is made with: 1 is that of the calibration
    bool disturbed = false;  ///< probes or runs say that something else ran, and no run was without
    double slowdown = 1;     ///< of the slowest against the fastest of the same runs
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

/// Step times of the runs that count; of all where none does.
[[nodiscard]] std::vector<double> counted_steps_s(const ComparedCase& one);

/// How much steps follow the cores' speed: slope of ln(1 / step) over ln(speed), both against the median of their
/// case, over all runs, from 0 (steps do not care) to 2 (a neighbour on the other thread of a core costs steps more
/// than it costs the probe); 1 where speeds within cases differ by less than 2 % (root mean square), for then it cannot
/// be told. From measurements only.
[[nodiscard]] double speed_slope(const std::vector<ComparedCase>& cases);
/// The speed to predict each case with: S, the median speed of all runs that count (1 where none does); for a case of
/// which no run counts S * (s / S)^slope, s the median of its speeds, from 0.3 to 1.2. 1 where speeds are not known, or
/// within 2 % of it.
[[nodiscard]] std::vector<double> speeds_to_predict(const std::vector<ComparedCase>& cases);

/// Fills everything in `comparison` that follows from its cases; of a case it reads names, runs, prediction, interval,
/// memory, operations and `disturbed`. A case whose noise is above 5 times the noise floor (and above 2 %) is disturbed
/// too; the upper end of a disturbed case's interval is multiplied by its slowdown. Of a case of which no run counts
/// cores may have been as fast as the quartiles of its speeds say: the lower end is multiplied by (median / 75th
/// percentile)^speed_slope(), the upper one by (median / 25th percentile)^speed_slope(). Rankings are within a
/// workload: pairs of cases of different workloads are not compared. A warning of disturbed cases comes first, one of
/// changing speeds follows. Requires a case, and a run of each.
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
