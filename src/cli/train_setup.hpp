#pragma once
/// @file From the flags of `auspex train` to a run: what the launcher checks before it starts, and every rank reads.
#include <string>

#include "cli/options.hpp"
#include "exec/run/trainer.hpp"

namespace auspex {

/// The command as its help shows it; `run` may be null where nobody runs it.
[[nodiscard]] Command train_command(void (*run)(const Options&));

struct TrainSetup {
    RunInputs run;
    RunOptions options;
};

/// Loads and checks everything that can be known before the first step. `ranks` = 0: what -n or the plan says. Throws
/// InputError.
[[nodiscard]] TrainSetup load_train_setup(const Options& options, int ranks);

/// "kill:rank=1,step=5". Throws InputError.
[[nodiscard]] InjectedFault parse_fault(const std::string& text);

/// The stack's name or file: `auspex` where none was given.
[[nodiscard]] std::string stack_of(const Options& options);

}  // namespace auspex
