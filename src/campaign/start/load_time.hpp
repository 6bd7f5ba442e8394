#pragma once
/// @file A checkpoint from storage to all ranks.
#include "models/machine.hpp"

namespace auspex::campaign {

/// What is read, and by whom.
struct LoadSize {
    double bytes = 0;        ///< of the checkpoint, each once: weights and optimizer states
    double model_bytes = 0;  ///< of it the weights
    int nodes = 1;           ///< of the job
    double ranks = 0;        ///< 0: names that they look up are not counted
    double replicas = 1;     ///< that hold the weights
    int replica_nodes = 1;
    bool is_broadcast = true;       ///< one replica reads the weights and sends them to the others
    bool reads_all_shards = false;  ///< every rank looks at the file of every rank; false: at its own
};

/// Parts, one after another. With r = what one node reads (infinite, where the machine's file has no startup.storage):
///   lookup = names / startup.storage.lookups, names = ranks, or ranks^2 where all shards are read
///   read   = max(bytes / min(checkpoint_read, nodes x min(r, NICs)), model_bytes / (replica_nodes x r)),
///            not broadcast: bytes / min(…) + (replicas - 1) x model_bytes / min(shared, nodes x min(r, NICs))
///   spread = model_bytes / NICs of one replica's nodes, where it is broadcast to other nodes
/// shared = startup.storage.shared_read, without it the machine's whole storage. Without checkpoint_read that, too.
/// Ignores: caches, other jobs, creation of what is not in the checkpoint.
struct LoadTime {
    double lookup_s = 0, read_s = 0, spread_s = 0;
    bool is_of_nodes = false;  ///< reading goes as fast as the nodes can; false: as storage can

    [[nodiscard]] double total_s() const { return lookup_s + read_s + spread_s; }
};
[[nodiscard]] LoadTime load_time(const models::Machine& machine, const LoadSize& size);

/// The machine, with a part of all files on every server of its shared file system: what all read goes as fast as its
/// whole storage (storage.read_bandwidth).
[[nodiscard]] models::Machine with_parts_on_every_server(models::Machine machine);

/// bytes x readers / startup.storage.local_read: each of the readers of one node reads all of it from the node's own
/// storage. Requires startup.storage.
[[nodiscard]] double local_read_time(const models::Machine& machine, double bytes, int readers);

}  // namespace auspex::campaign
