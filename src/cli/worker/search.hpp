#pragma once
/// @file What auspex-mpi does of `auspex plan`.
#include "cli/flags/options.hpp"
#include "exec/mpi/mpi_session.hpp"

namespace auspex::cli {

/// Runs on every rank: the search's parts are handed out by rank 0, which prints the answer. Returns the exit code;
/// throws InputError, launch::Interrupted.
[[nodiscard]] int run_search_role(const Options& options, const exec::MpiSession& session);

}  // namespace auspex::cli
