#pragma once
/// @file How a run went, from its journal and the kills: steps one after another, recoveries. Pure functions.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "launch/train/run_journal.hpp"
#include "workflows/endure/killer.hpp"

namespace auspex::workflows {

/// NaN: did not come to that before the next kill, or the end.
inline constexpr double kNotReached = std::numeric_limits<double>::quiet_NaN();

/// From a kill to the next step, on the journal's clock.
struct RecoveryTimes {
    double killed_s = 0, ended_s = kNotReached, launched_s = kNotReached, started_s = kNotReached;
    double stepped_s = kNotReached;  ///< the first step begins
    bool loaded = false;             ///< a checkpoint: the first step was not step 0
};

/// From the begin of a step to that of the next.
struct StepInterval {
    double length_s = 0;
    int since_start = 0;      ///< 0: the launch's first step
    bool saves = false;       ///< a checkpoint is in it
    bool after_save = false;  ///< one was in the interval before
};

struct Course {
    double begun_s = 0, over_s = 0;                            ///< of the command
    double first_step_s = kNotReached, saved_s = kNotReached;  ///< the first begins; the last checkpoint is whole
    double first_started_s = kNotReached;                      ///< rank 0's process of the first launch
    std::vector<StepInterval> intervals;
    std::vector<RecoveryTimes> recoveries;
    std::int64_t lost_steps = 0;  ///< done before a kill, and to be done again
};

/// `begun_s` and `over_s` on the journal's clock. Events and kills in the order of time.
[[nodiscard]] Course course_of(std::span<const launch::RunEvent> events, std::span<const Kill> kills, double begun_s,
                               double over_s);

/// From kills to the next step, or the next kill, in the mean; 0 without kills.
[[nodiscard]] double mean_recovery_s(const Course& course);

}  // namespace auspex::workflows
