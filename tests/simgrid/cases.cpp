/// @file The machines and the list of cases.
#include "cases.hpp"

#include <algorithm>
#include <limits>

#include "models/plan.hpp"

namespace auspex::simgrid_check {
namespace {

using Algorithm = CollectiveAlgorithm;

constexpr double kKib = 1024, kMib = 1024 * kKib;

/// Nothing but a tile: memory takes no time.
Machine machine_of(const char* name) {
    Machine machine;
    machine.name = machine.file = name;
    machine.tile.hbm_bytes_per_s = std::numeric_limits<double>::infinity();
    machine.node.nic_bytes_per_s = 25e9;
    machine.node.nic_latency_s = 2e-6;
    machine.fabric.link_bytes_per_s = 25e9;
    machine.fabric.switch_latency_s = 0.35e-6;
    machine.fabric.max_nodes = 4096;
    return machine;
}

/// One tile and one NIC a node; one link between two switches of a group, one between two groups; minimal routing.
Machine dragonfly(int groups, int nodes_per_group, int switches_per_group) {
    Machine machine = machine_of("dragonfly");
    FabricRecipe& fabric = machine.fabric;
    fabric.kind = FabricKind::kDragonfly;
    fabric.groups = groups;
    fabric.nodes_per_group = nodes_per_group;
    fabric.switches_per_group = switches_per_group;
    fabric.routing = RoutingKind::kMinimal;
    return machine;
}

/// The same fabric under nodes of 8 tiles on 4 cards, meshed, with 4 NICs behind 2 sockets that are narrower than
/// these.
Machine dragonfly_of_meshes(int groups, int nodes_per_group, int switches_per_group) {
    Machine machine = dragonfly(groups, nodes_per_group, switches_per_group);
    Node& node = machine.node;
    node.tiles = 8;
    node.tiles_per_card = 2;
    node.sockets = 2;
    node.scale_up = ScaleUpKind::kMeshOfPairs;
    node.pair_bytes_per_s = 185e9;
    node.mesh_bytes_per_s = 30e9;
    node.scale_up_latency_s = 1e-6;
    node.nic_attachment = NicAttachment::kHost;
    node.pcie_bytes_per_s = 50e9;
    node.socket_out_bytes_per_s = 45e9;
    node.socket_in_bytes_per_s = 40e9;
    node.nics = 4;
    return machine;
}

/// 8 tiles on a switch, a NIC each.
void put_switch_nodes(Machine& machine) {
    Node& node = machine.node;
    node.tiles = 8;
    node.scale_up = ScaleUpKind::kSwitch;
    node.switch_bytes_per_s = 200e9;
    node.scale_up_latency_s = 1e-6;
    node.nics = 8;
}

/// Leaves of 4 nodes with 8 tiles; half of their injection goes up, all uplinks as one.
Machine fat_tree() {
    Machine machine = machine_of("fat tree");
    put_switch_nodes(machine);
    machine.fabric.kind = FabricKind::kFatTree;
    machine.fabric.nodes_per_leaf = 4;
    machine.fabric.taper = 0.5;
    return machine;
}

/// One tile a node, 16 nodes a leaf, 4 leaves a pod; half of the injection leaves a leaf and half of that a pod.
Machine fat_tree_of_3_levels(RoutingKind routing) {
    Machine machine = machine_of("fat tree of 3 levels");
    FabricRecipe& fabric = machine.fabric;
    fabric.kind = FabricKind::kFatTree;
    fabric.levels = 3;
    fabric.nodes_per_leaf = 16;
    fabric.leaves_per_pod = 4;
    fabric.taper = fabric.pod_taper = 0.5;
    fabric.routing = routing;
    return machine;
}

/// 8 tiles a node, a NIC and a rail each; units of 8 nodes, half of a rail's injection goes up.
Machine rails() {
    Machine machine = machine_of("rails");
    put_switch_nodes(machine);
    machine.fabric.kind = FabricKind::kRail;
    machine.fabric.nodes_per_leaf = 8;
    machine.fabric.taper = 0.5;
    return machine;
}

struct Grid {
    int pp = 1, dp = 1, ep = 1;
    PlacementKind placement = PlacementKind::kContiguous;
};

Case on(const Machine& machine, const char* network, const Grid& grid) {
    Plan plan;
    plan.file = "plan";
    plan.pp = grid.pp;
    plan.dp = grid.dp;
    plan.ep = grid.ep;
    plan.placement = grid.placement;
    Case made;
    made.network = network;
    made.machine = machine;
    made.layout = make_layout(plan, machine, grid.pp * grid.dp * grid.ep);
    return made;
}

Collective all_reduce(Algorithm algorithm, double bytes, GroupKind group = GroupKind::kWorld, int levels = 1,
                      int stage = 0) {
    return {CommKind::kAllReduce, {algorithm, levels}, group, stage, bytes, {}};
}

Collective all_to_all(Algorithm algorithm, double bytes, GroupKind group = GroupKind::kWorld, int stage = 0) {
    return {CommKind::kAllToAll, {algorithm, 1}, group, stage, bytes, {}};
}

std::string size_text(double bytes) {
    const bool is_small = bytes < kMib;
    return std::to_string(static_cast<int>(bytes / (is_small ? kKib : kMib))) + (is_small ? " KiB" : " MiB");
}

/// "32 x all-reduce of 8, ring, 64 MiB".
std::string text_of(const Collective& collective, const Layout& layout) {
    const std::vector<std::vector<int>> groups = groups_of(layout, collective.group, collective.stage);
    std::string kind = to_string(collective.comm);
    std::replace(kind.begin(), kind.end(), '_', '-');
    return (groups.size() > 1 ? std::to_string(groups.size()) + " x " : std::string()) + kind + " of " +
           std::to_string(groups.front().size()) + ", " + to_string(collective.choice.algorithm) +
           (collective.choice.levels > 1 ? " between nodes, " : ", ") + size_text(collective.bytes);
}

enum class Quick { kNo, kYes };

class CaseList {
 public:
    /// The case is named after its number.
    void add(Quick quick, Case made, std::vector<Collective> collectives, const char* note = "") {
        made.name = std::to_string(cases_.size() + 1);
        made.collectives = std::move(collectives);
        for (Collective& collective : made.collectives) {
            collective.what = text_of(collective, made.layout);
        }
        made.is_quick = quick == Quick::kYes;
        made.note = note;
        cases_.push_back(std::move(made));
    }
    [[nodiscard]] std::vector<Case> take() { return std::move(cases_); }

 private:
    std::vector<Case> cases_;
};

void add_dragonfly_all_reduces(CaseList& list) {
    const Machine small = dragonfly(4, 16, 8), large = dragonfly(16, 64, 32);
    list.add(Quick::kYes, on(small, "4 groups", {.dp = 64}), {all_reduce(Algorithm::kRing, 64 * kMib)});
    list.add(Quick::kYes, on(small, "4 groups", {.dp = 64}), {all_reduce(Algorithm::kRing, 64 * kKib)});
    list.add(Quick::kNo, on(large, "16 groups", {.dp = 1024}), {all_reduce(Algorithm::kRing, 256 * kMib)});
    list.add(Quick::kNo, on(large, "16 groups", {.dp = 1024}), {all_reduce(Algorithm::kRecursiveDoubling, 8 * kKib)},
             "latency is some 30 % of the time, and routes have two to four switches. A phase adds the latency of its "
             "longest route to the time of its most loaded link, though other flows may use that one; and ranks with "
             "short routes run ahead.");
    list.add(Quick::kYes, on(dragonfly(16, 32, 16), "16 groups", {.dp = 512}),
             {all_reduce(Algorithm::kRecursiveDoubling, 16 * kMib)});
    list.add(Quick::kNo, on(dragonfly(16, 16, 8), "16 groups", {.dp = 256}),
             {all_reduce(Algorithm::kRabenseifner, 64 * kMib)},
             "ranks whose routes pass a switch less begin earlier, and gain sixteen times that on a link that sixteen "
             "share; ahead of the others they use the links of the next round while those of this one are busy.");
    list.add(Quick::kNo, on(large, "16 groups, nodes at random", {.dp = 1024, .placement = PlacementKind::kRandom}),
             {all_reduce(Algorithm::kRabenseifner, 256 * kMib)},
             "with nodes at random the most loaded link of a round is another in every round; ranks that it does not "
             "delay run ahead, where a phase waits for it.");
    list.add(Quick::kYes, on(dragonfly_of_meshes(4, 8, 4), "4 groups, 8 tiles a node", {.dp = 8, .ep = 32}),
             {all_reduce(Algorithm::kRing, 64 * kMib, GroupKind::kExpertDp)});
}

void add_dragonfly_all_to_alls(CaseList& list) {
    list.add(Quick::kYes, on(dragonfly(4, 16, 8), "4 groups", {.dp = 64}),
             {all_to_all(Algorithm::kPairwise, 64 * kMib)});
    list.add(Quick::kYes, on(dragonfly(8, 16, 8), "8 groups", {.dp = 128}),
             {all_to_all(Algorithm::kDirect, 64 * kMib)});
    list.add(Quick::kNo, on(dragonfly(16, 16, 8), "16 groups", {.dp = 256}),
             {all_to_all(Algorithm::kDirect, 64 * kMib)});
    list.add(Quick::kYes, on(dragonfly(8, 16, 8), "8 groups", {.dp = 128}),
             {all_to_all(Algorithm::kPairwise, 64 * kMib)});
}

void add_trees(CaseList& list) {
    const Machine pinned = fat_tree_of_3_levels(RoutingKind::kMinimal);
    list.add(
        Quick::kYes, on(fat_tree(), "2 levels, 8 tiles a node", {.dp = 64}),
        {all_reduce(Algorithm::kDoubleBinaryTree, 1024 * kMib)},
        "Auspex adds the latency of its longest edge to every round of chunks; SimGrid's ranks drift apart, so that "
        "the latency of one chunk overlaps with the bytes of another on shared links.");
    list.add(Quick::kYes, on(fat_tree(), "2 levels, 8 tiles a node", {.dp = 512}),
             {all_reduce(Algorithm::kRing, 256 * kMib, GroupKind::kWorld, 2)});
    list.add(Quick::kYes, on(fat_tree(), "2 levels, 8 tiles a node", {.dp = 1024}),
             {all_reduce(Algorithm::kRabenseifner, 256 * kMib)});
    list.add(Quick::kYes, on(fat_tree(), "2 levels, 8 tiles a node", {.dp = 1024}),
             {all_reduce(Algorithm::kRecursiveDoubling, 8 * kKib)});
    list.add(Quick::kYes, on(pinned, "pinned uplinks", {.dp = 512}),
             {all_reduce(Algorithm::kRecursiveDoubling, 16 * kMib)});
    list.add(Quick::kNo, on(fat_tree_of_3_levels(RoutingKind::kAdaptive), "pooled uplinks", {.dp = 1024}),
             {all_reduce(Algorithm::kRing, 256 * kMib)});
    list.add(Quick::kYes, on(fat_tree(), "2 levels, 8 tiles a node", {.dp = 128}),
             {all_to_all(Algorithm::kDirect, 64 * kMib)});
    list.add(Quick::kYes, on(fat_tree(), "2 levels, 8 tiles a node", {.dp = 256}),
             {all_to_all(Algorithm::kPairwise, 64 * kMib)},
             "Auspex plays 127 of the 255 rounds, each for its neighbours.");
    list.add(Quick::kYes, on(pinned, "pinned uplinks", {.dp = 256}), {all_to_all(Algorithm::kDirect, 64 * kMib)});
    list.add(Quick::kYes, on(rails(), "8 tiles a node", {.dp = 16, .ep = 32}),
             {all_reduce(Algorithm::kRing, 64 * kMib, GroupKind::kExpertDp)});
    list.add(Quick::kYes, on(rails(), "8 tiles a node", {.dp = 4, .ep = 64}),
             {all_to_all(Algorithm::kPairwise, 64 * kMib, GroupKind::kEp)});
}

/// All share links: ranks of one node, nodes of one leaf, or two stages whose ranks alternate.
void add_pairs_of_collectives(CaseList& list) {
    list.add(Quick::kYes, on(fat_tree(), "2 levels, 8 tiles a node", {.dp = 8, .ep = 32}),
             {all_to_all(Algorithm::kDirect, 64 * kMib, GroupKind::kEp),
              all_reduce(Algorithm::kRing, 64 * kMib, GroupKind::kExpertDp)});
    list.add(Quick::kYes, on(dragonfly_of_meshes(4, 8, 4), "4 groups, 8 tiles a node", {.pp = 2, .dp = 8, .ep = 16}),
             {all_reduce(Algorithm::kRing, 64 * kMib, GroupKind::kExpertDp),
              all_reduce(Algorithm::kRing, 32 * kMib, GroupKind::kExpertDp, 1, 1)});
    list.add(Quick::kYes, on(dragonfly(8, 16, 8), "8 groups", {.pp = 2, .dp = 64}),
             {all_reduce(Algorithm::kRabenseifner, 64 * kMib, GroupKind::kStage),
              all_to_all(Algorithm::kDirect, 64 * kMib, GroupKind::kStage, 1)});
}

}  // namespace

Stack bare_stack() {
    Stack stack;
    stack.name = stack.file = "bare";
    stack.rank_bytes_per_s = 1e12;  // more than any NIC
    stack.tree_chunk_bytes = 2 * kMib;
    return stack;
}

std::vector<Case> all_cases() {
    CaseList list;
    add_dragonfly_all_reduces(list);
    add_dragonfly_all_to_alls(list);
    add_trees(list);
    add_pairs_of_collectives(list);
    return list.take();
}

}  // namespace auspex::simgrid_check
