#pragma once
/// @file `auspex train --supervise`: relaunches from the last checkpoint, without the slot that failed.
#include "launch/mpirun.hpp"
#include "launch/train/setup.hpp"

namespace auspex::launch {

/// What ended a launch, in words, and the ranks that did; none: not known. A rank that a signal ended is the one that
/// mpirun names; ranks whose numbers are not finite are in DIR/failure; one that hangs is the only one behind the
/// others or the only one that uses no processor time.
struct RankFailure {
    std::string reason;  ///< "rank 2 died (signal 9)"
    std::vector<int> ranks;
    int step = -1;               ///< that the first of them had begun
    bool is_not_finite = false;  ///< loss or gradients
    int signal = 0;              ///< that ended the rank
};
[[nodiscard]] RankFailure failure_of(const LaunchOutcome& outcome, const RunFolder& folder);

/// Throws InputError and std::runtime_error for what a user must know of an outcome that is no success.
void report_failure(const LaunchOutcome& outcome, const RunFolder& folder, const std::string& advice);

/// The step from which --resume would go on; -1: no checkpoint. Throws InputError where none is whole.
[[nodiscard]] int step_of_checkpoint(const TrainSetup& setup);

/// Runs until the last step is done. Without a known rank no slot is left out; of several at once all are, or none
/// where too few would be left. Throws std::runtime_error when no healthy slots or no restarts are left, or when a step
/// fails again as it did before: that is not the slots' fault.
void supervise(const TrainRequest& request, const TrainSetup& setup, const Launch& launch, const RunFolder& folder);

}  // namespace auspex::launch
