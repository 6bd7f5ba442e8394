#pragma once
/// @file `auspex plan` as a command: for auspex, and for auspex-mpi, which gets the same flags.
#include "cli/flags/options.hpp"

namespace auspex::cli {

/// The command as its help shows it; `run` may be null where nobody runs it.
[[nodiscard]] Command plan_command(void (*run)(const Options&));

}  // namespace auspex::cli
