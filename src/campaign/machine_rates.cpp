/// @file Rates of failures and checkpoints by machine file.
#include "campaign/machine_rates.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace auspex::campaign {
namespace {

double switches_of(const models::Machine& machine, int nodes) {
    const models::FabricRecipe& fabric = machine.fabric;
    if (fabric.kind == models::FabricKind::kDragonfly) {
        return std::ceil(static_cast<double>(nodes) / fabric.nodes_per_group * fabric.switches_per_group);
    }
    const double leaves = std::ceil(static_cast<double>(nodes) / fabric.nodes_per_leaf);
    return fabric.kind == models::FabricKind::kRail ? leaves * machine.node.nics : leaves;
}

double units_of(const models::Machine& machine, models::FailureUnit unit, int nodes) {
    switch (unit) {
        case models::FailureUnit::kNode: return nodes;
        case models::FailureUnit::kTile: return static_cast<double>(nodes) * machine.node.tiles;
        case models::FailureUnit::kSwitch: return switches_of(machine, nodes);
    }
    check_failed("unit", "unknown unit", __FILE__, __LINE__);
}

/// Of so many nodes together, to storage.
double nic_rate(const models::Machine& machine, int nodes) {
    return static_cast<double>(nodes) * machine.node.nics * machine.node.nic_bytes_per_s;
}

}  // namespace

std::vector<FailureSource> failures_of(const models::Machine& machine, int nodes) {
    AUSPEX_CHECK(nodes > 0, "a job of a node at least");
    std::vector<models::FailingPart> parts = machine.reliability.parts;
    if (parts.empty()) {
        parts.push_back({"node", "node", models::FailureUnit::kNode, machine.reliability.node_mtbf_s});
    }
    std::vector<FailureSource> sources;
    for (const models::FailingPart& part : parts) {
        FailureSource source;
        source.component = part.name;
        source.cause = part.cause;
        source.spacing = part.shape == 1 ? Spacing::kExponential : Spacing::kWeibull;
        source.shape = part.shape;
        source.mean_s = part.mtbf_s / units_of(machine, part.unit, nodes);
        source.nodes = std::min(part.nodes, nodes);
        source.hang_share = part.silent;
        source.soft_share = part.soft;
        source.corruption_share = part.corrupt;
        source.detection_s = machine.reliability.detection_s;
        sources.push_back(source);
    }
    return sources;
}

double failed_start_share(const models::Machine& machine, int nodes) {
    return std::min(-std::expm1(-nodes * machine.reliability.node_failed_start), kMostFailedStarts);
}

CheckpointTimes checkpoint_times(const models::Machine& machine, const CheckpointSize& size) {
    const models::Storage& storage = machine.storage;
    const auto measured_or = [](double measured, double stated) { return measured > 0 ? measured : stated; };
    const int writers = size.is_scattered ? size.nodes : size.replica_nodes;
    const double write_rate = std::min(measured_or(storage.checkpoint_write_bytes_per_s, storage.write_bytes_per_s),
                                       nic_rate(machine, writers));
    const double save_s = storage.checkpoint_start_s + size.bytes / write_rate;
    const double cards = static_cast<double>(writers) * machine.node.tiles / machine.node.tiles_per_card;
    const double copy_s = size.bytes / cards / machine.node.pcie_bytes_per_s;
    const double stall_s = storage.stall_share > 0 ? storage.stall_share * save_s : copy_s;
    CheckpointTimes times;
    times.stall_s = size.is_async ? std::min(stall_s, save_s) : save_s;
    times.write_s = save_s - times.stall_s;
    times.model_s = storage.checkpoint_start_s + size.model_bytes / write_rate;
    return times;
}

}  // namespace auspex::campaign
