#pragma once
/// @file From a machine file to what fails in a job of so many nodes, and to times of its checkpoints.
#include <vector>

#include "campaign/setting.hpp"
#include "models/machine.hpp"

namespace auspex::campaign {

/// A source for each part of the machine's reliability: mean = mtbf / (nodes, tiles or switches of the job), a switch
/// counted where the job has nodes: dragonflies by nodes / nodes_per_group, trees by leaves, rails by leaves of all
/// NICs. Without parts one source, of node_mtbf. Requires nodes > 0.
[[nodiscard]] std::vector<FailureSource> failures_of(const models::Machine& machine, int nodes);

/// Share of a job's starts that fail: 1 - e^(-n p) with p of each node, and at most so much, for a chance that was seen
/// on hundreds of nodes says little of ten thousand.
inline constexpr double kMostFailedStarts = 0.9;
[[nodiscard]] double failed_start_share(const models::Machine& machine, int nodes);

/// A checkpoint, and who writes it.
struct CheckpointSize {
    double bytes = 0;          ///< weights and optimizer states, each once
    double model_bytes = 0;    ///< weights alone
    int nodes = 1;             ///< of the job
    int replica_nodes = 1;     ///< that hold one copy of the model
    bool is_scattered = true;  ///< each replica writes a part; false: the first one writes all
    bool is_async = true;      ///< written beside the steps that follow
};

/// Seconds. With b the storage's rate for checkpoints, at most what the NICs of the nodes that write carry:
///   save = start + bytes / b,  stall = share x save, or, without a share, the copy of a tile's part to its host
/// Ignores: caches, other jobs, how b falls with many files. Loads are load_time.hpp's.
struct CheckpointTimes {
    double stall_s = 0, write_s = 0;  ///< not async: the stall is all of it
    double model_s = 0;               ///< stall of a copy of the model alone
};
[[nodiscard]] CheckpointTimes checkpoint_times(const models::Machine& machine, const CheckpointSize& size);

}  // namespace auspex::campaign
