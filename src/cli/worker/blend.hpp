#pragma once
/// @file A rank of those that build a blend's index.
#include "cli/flags/options.hpp"
#include "exec/mpi/mpi_session.hpp"

namespace auspex::cli {

/// `is_watched`: `auspex data blend` has started this rank, holds the lock and prints. Returns the exit code.
int run_blend_role(const Options& options, const exec::MpiSession& session, bool is_watched);

}  // namespace auspex::cli
