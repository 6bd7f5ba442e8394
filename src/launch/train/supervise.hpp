#pragma once
/// @file `auspex train --supervise`: relaunches from the last checkpoint, without the slot that failed.
#include "launch/mpirun.hpp"
#include "launch/train/setup.hpp"

namespace auspex::launch {

/// Throws InputError and std::runtime_error for what a user must know of an outcome that is no success.
void report_failure(const LaunchOutcome& outcome, const RunFolder& folder, const std::string& advice);

/// The step from which --resume would go on; -1: no checkpoint. Throws InputError where none is whole.
[[nodiscard]] int step_of_checkpoint(const TrainSetup& setup);

/// Runs until the last step is done, or RestartRules (restart_rules.hpp) give up: throws std::runtime_error.
void supervise(const TrainRequest& request, const TrainSetup& setup, const Launch& launch, const RunFolder& folder);

}  // namespace auspex::launch
