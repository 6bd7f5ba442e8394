#pragma once
/// @file A whole training run: checks everything, then starts auspex-mpi under mpirun and watches it to its end.
#include <string>
#include <vector>

#include "launch/train/request.hpp"

namespace auspex::launch {

/// Ranks print what the run gives. `rank_arguments`: what each rank gets as its arguments, the flags that `request` was
/// made of. Throws InputError before anything is started where the request does not fit, and what report_failure() and
/// supervise() throw of a run that fails.
void run_train_job(const TrainRequest& request, const std::vector<std::string>& rank_arguments);

}  // namespace auspex::launch
