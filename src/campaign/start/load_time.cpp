/// @file Lookups, reading, and what one replica sends to the others.
#include "campaign/start/load_time.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace auspex::campaign {
namespace {

/// What so many nodes can take in from storage.
double intake(const models::Machine& machine, double nodes) {
    const double nics = machine.node.nics * machine.node.nic_bytes_per_s;
    const auto& storage = machine.startup.storage;
    return nodes * (storage ? std::min(storage->node_read_bytes_per_s, nics) : nics);
}

}  // namespace

LoadTime load_time(const models::Machine& machine, const LoadSize& size) {
    AUSPEX_CHECK(size.nodes >= 1 && size.replica_nodes >= 1 && size.replicas >= 1, "somebody reads");
    const auto& facts = machine.startup.storage;
    const models::Storage& storage = machine.storage;
    const double job_rate =
        storage.checkpoint_read_bytes_per_s > 0 ? storage.checkpoint_read_bytes_per_s : storage.read_bytes_per_s;
    const double shared_rate = facts ? facts->shared_read_bytes_per_s : storage.read_bytes_per_s;
    const double nodes_rate = intake(machine, size.nodes);
    LoadTime time;
    if (facts) {
        time.lookup_s = size.ranks * (size.reads_all_shards ? size.ranks : 1) / facts->lookups_per_s;
    }
    time.read_s = size.bytes / std::min(job_rate, nodes_rate);
    time.is_of_nodes = nodes_rate < job_rate;
    if (!size.is_broadcast) {
        time.read_s += (size.replicas - 1) * size.model_bytes / std::min(shared_rate, nodes_rate);
        time.is_of_nodes = nodes_rate < (size.replicas > 1 ? shared_rate : job_rate);
    } else {
        const double reader_s = size.model_bytes / intake(machine, size.replica_nodes);
        time.is_of_nodes = time.is_of_nodes || reader_s > time.read_s;
        time.read_s = std::max(time.read_s, reader_s);
        if (size.replicas > 1 && size.nodes > size.replica_nodes) {
            time.spread_s = size.model_bytes / (static_cast<double>(size.replica_nodes) * machine.node.nics *
                                                machine.node.nic_bytes_per_s);
        }
    }
    return time;
}

models::Machine with_parts_on_every_server(models::Machine machine) {
    if (machine.startup.storage) {
        machine.startup.storage->shared_read_bytes_per_s = machine.storage.read_bytes_per_s;
    }
    return machine;
}

double local_read_time(const models::Machine& machine, double bytes, int readers) {
    AUSPEX_CHECK(machine.startup.storage.has_value(), "the machine's file says how fast a node reads");
    return bytes * readers / machine.startup.storage->local_read_bytes_per_s;
}

}  // namespace auspex::campaign
