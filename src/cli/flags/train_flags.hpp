#pragma once
/// @file `auspex train` as a command, and what its flags ask for: for auspex, and for auspex-mpi, which gets the same
/// flags.
#include "cli/flags/options.hpp"
#include "launch/train/request.hpp"

namespace auspex::cli {

/// The command as its help shows it; `run` may be null where nobody runs it.
[[nodiscard]] Command train_command(void (*run)(const Options&));

/// The request of parsed flags; what no flag gives keeps its default.
[[nodiscard]] launch::TrainRequest train_request(const Options& options);

}  // namespace auspex::cli
