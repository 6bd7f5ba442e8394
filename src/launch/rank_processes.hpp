#pragma once
/// @file The processes of a run's ranks on this host.
#include <optional>

#include "launch/run_folder.hpp"

namespace auspex::launch {

/// The rank that all others wait for: the only one that has not begun the newest step, or the only one that has used no
/// processor time for two seconds, as ranks that wait for messages keep looking for them.
[[nodiscard]] std::optional<int> rank_that_hangs(const RunFolder& folder, int ranks);

/// Kills ranks that have outlived their mpirun, and waits for their end: they must not write beside those of the next
/// launch.
void kill_orphaned_ranks(const RunFolder& folder);

}  // namespace auspex::launch
