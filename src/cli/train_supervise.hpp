#pragma once
/// @file `auspex train --supervise`: relaunches from the last checkpoint, without the slot that failed.
#include "cli/train_launch.hpp"
#include "cli/train_setup.hpp"

namespace auspex {

/// What ended a launch, in words, and the rank that did; -1: not known. A rank that a signal ended is the one that
/// mpirun names; one whose numbers are not finite says so itself (DIR/failure); one that hangs is the only one behind
/// the others or the only one that uses no processor time. Without a known rank no slot is left out.
struct RankFailure {
    std::string reason;  ///< "rank 2 died (signal 9)"
    int rank = -1;
    int step = -1;  ///< that the rank had begun
};
[[nodiscard]] RankFailure failure_of(const LaunchOutcome& outcome, const RunFolder& folder);

/// Throws InputError and std::runtime_error for what a user must know of an outcome that is no success.
void report_failure(const LaunchOutcome& outcome, const RunFolder& folder, const std::string& advice);

/// The step from which --resume would go on; -1: no checkpoint.
[[nodiscard]] int step_of_checkpoint(const TrainSetup& setup);

/// Runs until the last step is done. Slots 0 … ranks + buffer - 1 (with a hostfile its lines); ranks sit on the healthy
/// ones in order. Throws std::runtime_error when no healthy slots or no restarts are left.
void supervise(const Options& options, const TrainSetup& setup, const Launch& launch, const RunFolder& folder);

}  // namespace auspex
