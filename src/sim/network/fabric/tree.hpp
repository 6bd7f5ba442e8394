#pragma once
/// @file Leaves, pods and their uplinks: what a fat tree or a rail network is made of.
#include <cstdint>

#include "models/machine.hpp"

namespace auspex::network {

/// A block is a fat tree's leaf or a unit of rails. Rates are of one direction, without efficiencies.
///   leaf_bytes_per_s = NICs of the leaf * nic_wire_bytes_per_s * taper,  leaf_uplinks = max(1, round(leaf_bytes_per_s
///   / link rate)) pod_bytes_per_s  = leaves of the pod * leaf_bytes_per_s * pod_taper,  pod_uplinks: its links,
///   equally many on each
///                      of its leaf_uplinks spines, at least one
/// Uplink u of a leaf goes to spine u of its pod; uplink u of a pod belongs to spine u mod leaf_uplinks and goes to
/// core u. A link carries the capacity over the number of uplinks. The last leaf and pod have all their uplinks even
/// where they hold fewer nodes.
struct TreeShape {
    int leaves_per_block = 1;  ///< rails: one for each NIC of a node
    int blocks_per_pod = 0;    ///< 0: two levels, all blocks under the same spines
    double leaf_bytes_per_s = 0, pod_bytes_per_s = 0;
    int leaf_uplinks = 1, pod_uplinks = 1;
};

/// Requires a fat tree or rails. Throws InputError for more than a million uplinks.
[[nodiscard]] TreeShape tree_shape(const models::Machine& machine);

/// Leaf, within its block, that NIC `nic` of a node hangs on.
[[nodiscard]] int leaf_of_nic(const models::FabricRecipe& recipe, int nic);

/// Numbers of the uplinks that minimal routing takes to a NIC: of a leaf, and of a pod where there are three levels.
struct PinnedUplinks {
    std::uint32_t leaf = 0, pod = 0;
};

/// With U = leaf_uplinks, P = pod_uplinks, NIC r of node n, a number of the machine, and R NICs a node:
///   tree:   d = n * R + r,  leaf u = d mod U,  pod u + U * (floor(d / U) mod (P / U)) = d mod P
///   rails:  leaf u = n mod U,                  pod u + U * ((floor(n / U) * R + r) mod (P / U))
/// Both pod uplinks begin at spine u, where the leaf's ends. The rails of a pod share its spines, but not the number of
/// a node: without r all NICs of a node would come down one link.
[[nodiscard]] PinnedUplinks pinned_uplinks(const models::FabricRecipe& recipe, const TreeShape& shape,
                                           int nics_per_node, int node, int nic);

}  // namespace auspex::network
