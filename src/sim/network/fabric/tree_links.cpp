/// @file Uplinks by number: [leaf][uplink][up, down], [pod][uplink][up, down].
#include "sim/network/fabric/tree_links.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace auspex::network {
namespace {

/// Switches that a packet passes: one leaf; leaf, spine, leaf; leaf, spine, core, spine, leaf.
constexpr double kSwitchesSameLeaf = 1, kSwitchesSamePod = 3, kSwitchesOtherPod = 5;

int nodes_per_pod(const models::FabricRecipe& recipe) {
    const std::int64_t nodes = std::int64_t{recipe.nodes_per_leaf} * recipe.leaves_per_pod;
    return static_cast<int>(std::min<std::int64_t>(nodes, std::numeric_limits<int>::max()));
}

}  // namespace

TreeLinks::TreeLinks(const models::Machine& machine, double efficiency, JobBlocks job, LinkRanges& links)
    : recipe_(machine.fabric), shape_(tree_shape(machine)), job_(std::move(job)), nics_per_node_(machine.node.nics) {
    const bool three_levels = shape_.blocks_per_pod > 0;
    if (three_levels) {
        pods_ = job_blocks(job_.nodes, nodes_per_pod(recipe_));
    }
    if (recipe_.routing == models::RoutingKind::kMinimal) {
        leaf_uplinks_ = static_cast<std::uint32_t>(shape_.leaf_uplinks);
        pod_uplinks_ = static_cast<std::uint32_t>(shape_.pod_uplinks);
    }
    const std::uint64_t leaves = job_.blocks.size() * static_cast<std::uint64_t>(shape_.leaves_per_block);
    leaf_ = links.add(LinkKind::kLeafUplink, 2 * leaves * leaf_uplinks_,
                      shape_.leaf_bytes_per_s * efficiency / leaf_uplinks_);
    pod_ = links.add(LinkKind::kPodUplink, 2 * pods_.blocks.size() * pod_uplinks_,
                     shape_.pod_bytes_per_s * efficiency / pod_uplinks_);
}

std::uint32_t TreeLinks::leaf_of(int node, int nic) const {
    return job_.block_of_node[static_cast<std::size_t>(node)] * static_cast<std::uint32_t>(shape_.leaves_per_block) +
           static_cast<std::uint32_t>(leaf_of_nic(recipe_, nic));
}

std::uint32_t TreeLinks::pod_of(int node) const {
    return pods_.blocks.empty() ? 0 : pods_.block_of_node[static_cast<std::size_t>(node)];
}

void TreeLinks::route_between(int from_node, int from_nic, int to_node, int to_nic, InterNodeRoute& route) const {
    const std::uint32_t from = leaf_of(from_node, from_nic), to = leaf_of(to_node, to_nic);
    const std::uint32_t from_pod = pod_of(from_node), to_pod = pod_of(to_node);
    double passed = kSwitchesSameLeaf;
    route.legs.clear();
    if (from != to) {
        PinnedUplinks taken;
        if (recipe_.routing == models::RoutingKind::kMinimal) {
            taken =
                pinned_uplinks(recipe_, shape_, nics_per_node_, job_.nodes[static_cast<std::size_t>(to_node)], to_nic);
        }
        const auto uplink = [&](std::uint32_t leaf) { return 2 * (leaf * leaf_uplinks_ + taken.leaf); };
        const auto pod_uplink = [&](std::uint32_t pod) { return 2 * (pod * pod_uplinks_ + taken.pod); };
        passed = kSwitchesSamePod;
        route.legs.push_back({leaf_ + uplink(from), 1});
        if (from_pod != to_pod) {
            passed = kSwitchesOtherPod;
            route.legs.push_back({pod_ + pod_uplink(from_pod), 1});
            route.legs.push_back({pod_ + pod_uplink(to_pod) + 1, 1});
        }
        route.legs.push_back({leaf_ + uplink(to) + 1, 1});
    }
    route.latency_s = passed * recipe_.switch_latency_s;
    route.leaves_group = job_.block_of_node[static_cast<std::size_t>(from_node)] !=
                         job_.block_of_node[static_cast<std::size_t>(to_node)];
}

std::string TreeLinks::name(LinkKind kind, std::uint32_t link) const {
    const bool is_pod = kind == LinkKind::kPodUplink, is_rail = recipe_.kind == models::FabricKind::kRail;
    const std::uint32_t index = link - (is_pod ? pod_ : leaf_), count = is_pod ? pod_uplinks_ : leaf_uplinks_;
    const std::uint32_t at = index / 2 / count, number = index / 2 % count;
    const auto leaves = static_cast<std::uint32_t>(shape_.leaves_per_block);
    const auto block = [&](std::uint32_t b) { return std::to_string(job_.blocks[b]); };
    std::string text = is_pod    ? "pod " + std::to_string(pods_.blocks[at])
                       : is_rail ? "unit " + block(at / leaves) + ", rail " + std::to_string(at % leaves)
                                 : "leaf " + block(at);
    text += recipe_.routing == models::RoutingKind::kMinimal ? ", uplink " + std::to_string(number) : "";
    return text + (index % 2 == 0 ? " up" : " down");
}

int TreeLinks::attachment(int node, int nic) const { return static_cast<int>(leaf_of(node, nic)); }

}  // namespace auspex::network
