#pragma once
/// @file From a request to a run: what the launcher checks before it starts, and every rank reads.
#include <string>

#include "exec/run/trainer.hpp"
#include "launch/train/request.hpp"

namespace auspex::launch {

struct TrainSetup {
    exec::RunInputs run;
    exec::RunOptions options;
};

/// Loads and checks everything that can be known before the first step. `ranks` = 0: what the request or the plan says.
/// Throws InputError.
[[nodiscard]] TrainSetup load_train_setup(const TrainRequest& request, int ranks);

/// "kill:rank=1,step=5". Throws InputError.
[[nodiscard]] exec::InjectedFault parse_fault(const std::string& text);

}  // namespace auspex::launch
