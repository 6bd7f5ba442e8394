/// @file Uplinks of trees and rails.
#include "sim/network/fabric/tree.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/units.hpp"
#include "sim/network/node/nic_wire.hpp"

namespace auspex::network {
namespace {

constexpr double kMaxUplinks = 1e6;

double links_of(double bytes_per_s, double link_bytes_per_s) {
    return std::max(1.0, std::round(bytes_per_s / link_bytes_per_s));
}

int checked(double uplinks, const models::Machine& machine, const char* what) {
    if (uplinks > kMaxUplinks) {
        throw InputError(machine.file + ": $.fabric.link_bandwidth",
                         "found " + exact_quantity(machine.fabric.link_bytes_per_s, Dimension::kBytesPerSecond) +
                             ", of which " + what + " needs more than a million uplinks; expected faster links");
    }
    return static_cast<int>(uplinks);
}

}  // namespace

TreeShape tree_shape(const models::Machine& machine) {
    const models::FabricRecipe& recipe = machine.fabric;
    const bool rails = recipe.kind == models::FabricKind::kRail;
    const double nics = static_cast<double>(recipe.nodes_per_leaf) * (rails ? 1 : machine.node.nics);
    TreeShape shape;
    shape.leaves_per_block = rails ? machine.node.nics : 1;
    shape.leaf_bytes_per_s = nics * nic_wire_bytes_per_s(machine) * recipe.taper;
    const double leaf_uplinks = links_of(shape.leaf_bytes_per_s, recipe.link_bytes_per_s);
    shape.leaf_uplinks = checked(leaf_uplinks, machine, "a leaf");
    if (recipe.levels < 3) {
        return shape;
    }
    shape.blocks_per_pod = recipe.leaves_per_pod;
    shape.pod_bytes_per_s =
        static_cast<double>(recipe.leaves_per_pod) * shape.leaves_per_block * shape.leaf_bytes_per_s * recipe.pod_taper;
    const double of_spine = links_of(shape.pod_bytes_per_s / leaf_uplinks, recipe.link_bytes_per_s);
    shape.pod_uplinks = checked(of_spine * leaf_uplinks, machine, "a pod");
    return shape;
}

int leaf_of_nic(const models::FabricRecipe& recipe, int nic) {
    return recipe.kind == models::FabricKind::kRail ? nic : 0;
}

PinnedUplinks pinned_uplinks(const models::FabricRecipe& recipe, const TreeShape& shape, int nics_per_node, int node,
                             int nic) {
    const bool rails = recipe.kind == models::FabricKind::kRail;
    const std::int64_t destination = rails ? node : std::int64_t{node} * nics_per_node + nic;
    const std::int64_t uplink = destination % shape.leaf_uplinks, turn = destination / shape.leaf_uplinks;
    if (shape.blocks_per_pod == 0) {
        return {static_cast<std::uint32_t>(uplink), 0};
    }
    const std::int64_t link_of_spine =
        (rails ? turn * nics_per_node + nic : turn) % (shape.pod_uplinks / shape.leaf_uplinks);
    return {static_cast<std::uint32_t>(uplink),
            static_cast<std::uint32_t>(uplink + shape.leaf_uplinks * link_of_spine)};
}

}  // namespace auspex::network
