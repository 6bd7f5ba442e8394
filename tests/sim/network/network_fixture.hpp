#pragma once
/// @file Small machines with round numbers, built by hand, for the tests of fabric and network.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "models/layout.hpp"
#include "models/machine.hpp"
#include "models/plan.hpp"
#include "models/stack.hpp"

namespace auspex::testing_network {

/// A node of 12 tiles on 6 cards, all-to-all between cards, 8 host-attached NICs on 2 sockets; dragonfly of 64 nodes
/// and 32 switches a group.
inline models::Machine mesh_machine() {
    models::Machine machine;
    machine.file = "machine.json";
    models::Node& node = machine.node;
    node.tiles = 12;
    node.tiles_per_card = 2;
    node.sockets = 2;
    node.scale_up = models::ScaleUpKind::kMeshOfPairs;
    node.pair_bytes_per_s = 185e9;
    node.mesh_bytes_per_s = 31e9;
    node.scale_up_latency_s = 2e-6;
    node.pcie_bytes_per_s = 50e9;
    node.socket_out_bytes_per_s = 150e9;
    node.socket_in_bytes_per_s = 150e9;
    node.nics = 8;
    node.nic_bytes_per_s = 23e9;
    node.nic_attachment = models::NicAttachment::kHost;
    node.nic_latency_s = 3e-6;
    models::FabricRecipe& fabric = machine.fabric;
    fabric.kind = models::FabricKind::kDragonfly;
    fabric.link_bytes_per_s = 25e9;
    fabric.switch_latency_s = 0.35e-6;
    fabric.groups = 166;
    fabric.nodes_per_group = 64;
    fabric.switches_per_group = 32;
    fabric.local_links = 1;
    fabric.global_links = 2;
    fabric.max_nodes = 166 * 64;
    fabric.routing = models::RoutingKind::kAdaptive;
    fabric.detour_delay_s = 10e-6;
    return machine;
}

/// A node of 8 tiles on one switch, a NIC for each tile; a fat tree of 4 nodes a leaf, tapered to a half.
inline models::Machine switch_machine() {
    models::Machine machine;
    machine.file = "machine.json";
    models::Node& node = machine.node;
    node.tiles = 8;
    node.scale_up = models::ScaleUpKind::kSwitch;
    node.switch_bytes_per_s = 400e9;
    node.scale_up_latency_s = 1e-6;
    node.nics = 8;
    node.nic_bytes_per_s = 50e9;
    node.nic_latency_s = 2e-6;
    models::FabricRecipe& fabric = machine.fabric;
    fabric.kind = models::FabricKind::kFatTree;
    fabric.link_bytes_per_s = 50e9;
    fabric.switch_latency_s = 0.5e-6;
    fabric.nodes_per_leaf = 4;
    fabric.taper = 0.5;
    fabric.max_nodes = 1024;
    return machine;
}

/// The same nodes on rails: units of 4 nodes, one leaf for each of their 8 NICs.
inline models::Machine rail_machine() {
    models::Machine machine = switch_machine();
    machine.fabric.kind = models::FabricKind::kRail;
    return machine;
}

struct SmallDragonfly {
    int groups = 4, switches = 3, nodes_per_switch = 1, local_links = 1, global_links = 1;
    models::RoutingKind routing = models::RoutingKind::kMinimal;
};

/// Nodes of 2 tiles on a switch, a NIC for each tile.
inline models::Machine small_dragonfly(const SmallDragonfly& of) {
    models::Machine machine = switch_machine();
    machine.node.tiles = machine.node.nics = 2;
    models::FabricRecipe& fabric = machine.fabric;
    fabric.kind = models::FabricKind::kDragonfly;
    fabric.groups = of.groups;
    fabric.switches_per_group = of.switches;
    fabric.nodes_per_group = of.switches * of.nodes_per_switch;
    fabric.local_links = of.local_links;
    fabric.global_links = of.global_links;
    fabric.routing = of.routing;
    fabric.max_nodes = fabric.groups * fabric.nodes_per_group;
    return machine;
}

inline models::Stack plain_stack(models::CollectiveAlgorithm algorithm = models::CollectiveAlgorithm::kRing,
                                 int levels = 1) {
    models::Stack stack;
    stack.rank_bytes_per_s = 10e9;
    stack.scale_up_message_s = 1e-6;
    stack.scale_out_message_s = 5e-6;
    stack.collective_launch_s = 4e-6;
    const std::vector<models::AlgorithmRule> rules{{std::numeric_limits<double>::infinity(), algorithm, levels}};
    stack.all_reduce = stack.reduce_scatter = stack.all_gather = stack.all_to_all = stack.broadcast = rules;
    return stack;
}

struct Grid {
    int pp = 1, dp = 1, ep = 1;
    models::PlacementKind placement = models::PlacementKind::kContiguous;
};

inline models::Layout layout_of(const models::Machine& machine, const Grid& grid) {
    models::Plan plan;
    plan.pp = grid.pp;
    plan.dp = grid.dp;
    plan.ep = grid.ep;
    plan.placement = grid.placement;
    return make_layout(plan, machine, grid.pp * grid.dp * grid.ep);
}

}  // namespace auspex::testing_network
