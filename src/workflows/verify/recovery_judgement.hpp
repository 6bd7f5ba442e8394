#pragma once
/// @file What a run that was killed, resumed or begun anew has to show beside one that was left alone. Runs nothing.
#include <span>
#include <string>

#include "launch/train/train_result.hpp"
#include "report/training/executor_report.hpp"
#include "workflows/verify/differences.hpp"

namespace auspex::workflows {

/// How long runs are, and when they save.
struct RecoveryPlan {
    int steps = 0;  ///< of whole runs: as wanted, within kMinRecoverySteps and kMaxRecoverySteps
    int every = 0;  ///< steps from checkpoint to checkpoint
    int half = 0;   ///< where the first part of a run ends: at a checkpoint behind another one, before the last step

    explicit RecoveryPlan(int wanted);
};

// All of these take the losses of the run left alone, all of them from step 0 on, and say in `result` what differs.

/// A run of `steps` steps that was killed: that was noticed, and all losses are equal, bit for bit.
[[nodiscard]] report::RecoveryCheck judge_killed(std::string what, const launch::TrainResult& run,
                                                 std::span<const double> alone, int steps);
/// Resumed on another grid: losses are within kAllowedForced.
[[nodiscard]] report::RecoveryCheck judge_moved(std::string what, const launch::TrainResult& run,
                                                std::span<const double> alone, StepRange rest);
/// Begun from the weights after step `first` alone: the mean loss of its `steps` steps is within 5 %.
[[nodiscard]] report::RecoveryCheck judge_begun(std::string what, const launch::TrainResult& run,
                                                std::span<const double> alone, int first, int steps);
/// Resumed past a damaged checkpoint, from the one before: losses are equal, bit for bit.
[[nodiscard]] report::RecoveryCheck judge_damaged(std::string what, const launch::TrainResult& run,
                                                  std::span<const double> alone, StepRange rest);

}  // namespace auspex::workflows
