#pragma once
/// @file `auspex data blend` as a command, and what its flags ask for: for auspex, and for auspex-mpi, which gets the
/// same flags.
#include "cli/flags/options.hpp"
#include "exec/blend/build_blend.hpp"

namespace auspex::cli {

/// The command as its help shows it; `run` may be null where nobody runs it.
[[nodiscard]] Command blend_command(void (*run)(const Options&));

/// Throws InputError for a source that is no DIR=WEIGHT, a weight that is no number above zero, and where not one of
/// --tokens and --sequences is given.
[[nodiscard]] exec::BlendRequest blend_request(const Options& options);

}  // namespace auspex::cli
