#pragma once
/// @file Layouts as measured and as predicted, side by side.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics/interval.hpp"
#include "compare/evaluate/error_summary.hpp"
#include "schedule/timeline.hpp"

namespace auspex::evaluate {

/// One operation name, the mean over ranks of its time in a step.
struct OperationPair {
    std::string name;
    double measured_s = 0, predicted_s = 0;
};

/// One run of a layout.
struct ComparedRun {
    double step_s = 0;     ///< median of its steps
    double speed = 0;      ///< of the slowest core during these steps, over that of the calibration; 0: not known
    bool is_valid = true;  ///< cores had their full speed, and nothing else ran
    double traced_s = 0;   ///< its last step, the one that has a trace; 0: there is none
    bool is_traced_at_full_speed = true;      ///< by the probes around that step
    std::vector<OperationPair> operations{};  ///< of that step: measured_s only
};

/// One layout, measured and predicted.
struct ComparedCase {
    std::string plan, workload;
    int ranks = 1, nodes = 1;
    std::vector<ComparedRun> runs;  ///< in the order in which they were run
    double measured_step_s = 0;     ///< median of those that count, of all where none does
    std::optional<double> noise;    ///< relative_noise() of the same runs; none of a single one
    double predicted_step_s = 0;
    Interval interval_s;        ///< 90 %: of the prediction; summarise() widens it
    double error = 0;           ///< predicted / measured - 1
    double error_all_runs = 0;  ///< predicted / median of all runs - 1
    double core_speed = 1;      ///< that the prediction is made with: 1 is that of the calibration
    bool disturbed = false;     ///< probes or runs say that something else ran, and no run was without
    std::vector<int>
        background_processes;  ///< of a disturbed case, by core: the most processes of others that could always run
    double slowdown = 1;       ///< of the slowest against the fastest of the same runs
    double measured_memory_bytes = 0, predicted_memory_bytes = 0;  ///< of the fullest rank: peak of all labels
    std::vector<OperationPair> operations;                         ///< most measured time first
    bool operations_are_typical = true;                            ///< trace_is_typical() of a run that they are of
    std::optional<schedule::Timeline> measured_timeline, predicted_timeline;

    [[nodiscard]] bool interval_holds() const { return interval_s.holds(measured_step_s); }
};

[[nodiscard]] bool any_valid(const std::vector<ComparedRun>& runs);
/// A number of the runs that count, of all where none does.
[[nodiscard]] std::vector<double> of_valid(const std::vector<ComparedRun>& runs, double ComparedRun::*value);
/// Step times of the runs that count; of all where none does.
[[nodiscard]] std::vector<double> valid_steps_s(const ComparedCase& one);

/// A layout of which no run came to its end.
struct FailedCase {
    std::string plan, workload, error;
};

/// Of the `of` cases of so many ranks the interval of `holds` holds.
struct IntervalCoverage {
    int ranks = 1, holds = 0, of = 0;
};

/// The same cases predicted without one of the machine's mechanisms (models/cpu/cpu_mechanisms.hpp).
struct WithoutMechanism {
    std::string name, probe;
    ErrorSummary errors;
};

struct Comparison {
    std::vector<ComparedCase> cases;
    std::vector<FailedCase> failed;
    ErrorSummary errors;                ///< over cases, of their `error`
    ErrorSummary errors_all_runs;       ///< of their `error_all_runs`
    std::optional<double> noise_floor;  ///< median of the cases' noise; none where no case has any
    /// Of predictions, over pairs further apart than twice the noise; none where there is no such pair.
    std::optional<double> kendall_tau;
    int tau_pairs = 0;
    /// The same of one half of the repeats against the other, over cases of at least two runs; none where no pair of
    /// them is that far apart.
    std::optional<double> kendall_tau_of_repeats;
    int tau_pairs_of_repeats = 0;
    std::optional<double> regret_of_predicted_best;  ///< of the worst workload; none where each has a single layout
    double spread = 1;                               ///< slowest over fastest case, measured
    std::map<std::string, double> spreads;           ///< the same within each workload
    std::vector<IntervalCoverage> coverage;          ///< fewest ranks first
    double median_half_width = 0;                    ///< over cases, of (high - low) / 2 / predicted
    std::vector<WithoutMechanism> without;           ///< empty where it was not asked for
    bool disturbed = false;
    std::vector<std::string> warnings;
    std::vector<OperationPair> operations;  ///< summed over cases
};

}  // namespace auspex::evaluate
