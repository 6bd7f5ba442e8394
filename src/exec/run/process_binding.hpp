#pragma once
/// @file Ranks on cores: each process stays on one of the cores that it may use.
#include <optional>

#include "models/stack.hpp"

namespace auspex::exec {

/// Number of the first core for the ranks of a node, as text; 0 where it is not set. Nodes that share a computer set
/// it, so that their ranks do not all begin with the same core.
inline constexpr const char* kFirstCoreVariable = "AUSPEX_FIRST_CORE";

/// Number of this process among those of its node: OMPI_COMM_WORLD_LOCAL_RANK, else SLURM_LOCALID, else `rank`.
[[nodiscard]] int local_rank_of(int rank);

/// Binds this thread, and those it starts from now on, to
///   core = cores[(first + local rank mod allowed_cores().size()) mod cores.size()], cores: those of the mask, first:
/// AUSPEX_FIRST_CORE, and returns that; nothing where the system refuses. Throws InputError where AUSPEX_FIRST_CORE is
/// no whole number from 0 to 100000.
std::optional<int> bind_to_core(int local_rank);

/// The same for a rank, where the stack binds its processes (Stack::binds_ranks); else nothing.
std::optional<int> bind_rank(const models::Stack& stack, int rank);

}  // namespace auspex::exec
