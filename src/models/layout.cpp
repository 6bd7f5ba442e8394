/// @file Ranks, groups and nodes of a plan laid over a machine.
#include "models/layout.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/rng.hpp"

namespace auspex::models {
namespace {

constexpr std::size_t index_of(Axis axis) { return static_cast<std::size_t>(axis); }

/// Nodes that a placement may choose from: a dragonfly's job may lie anywhere in its groups.
int machine_nodes(const FabricRecipe& fabric) {
    return fabric.kind == FabricKind::kDragonfly ? fabric.groups * fabric.nodes_per_group : fabric.max_nodes;
}

int nodes_per_block(const FabricRecipe& fabric) {
    return fabric.kind == FabricKind::kDragonfly ? fabric.nodes_per_group : fabric.nodes_per_leaf;
}

/// Round-robin over dragonfly groups, or over the leaves of a tree or the units of rails, the last of which may be
/// short.
std::vector<int> scattered_nodes(const FabricRecipe& fabric, int count) {
    const int per_block = nodes_per_block(fabric);
    const int total = machine_nodes(fabric);
    std::vector<int> nodes;
    for (int within = 0; within < per_block; ++within) {
        for (int node = within; node < total; node += per_block) {
            if (static_cast<int>(nodes.size()) == count) {
                return nodes;
            }
            nodes.push_back(node);
        }
    }
    return nodes;
}

/// The first `count` of a Fisher-Yates shuffle of all nodes.
std::vector<int> random_nodes(int total, int count, std::uint64_t seed) {
    std::vector<int> nodes(static_cast<std::size_t>(total));
    std::iota(nodes.begin(), nodes.end(), 0);
    Rng rng(seed);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        std::swap(nodes[i], nodes[i + rng.below(nodes.size() - i)]);
    }
    nodes.resize(static_cast<std::size_t>(count));
    return nodes;
}

/// Free nodes of the blocks (dragonfly groups, leaves, units) with most of them first; within a block by rising number.
std::vector<int> scheduled_nodes(const Plan& plan, const FabricRecipe& fabric, int count) {
    const int total = machine_nodes(fabric), per_block = nodes_per_block(fabric);
    std::vector<std::vector<int>> free_of_block(static_cast<std::size_t>((total + per_block - 1) / per_block));
    Rng rng(plan.placement_seed);
    int free = 0;
    for (int node = 0; node < total; ++node) {
        if (rng.uniform() < plan.placement_free) {
            free_of_block[static_cast<std::size_t>(node / per_block)].push_back(node);
            ++free;
        }
    }
    if (free < count) {
        throw InputError(plan.file + ": $.placement_free", "found " + std::to_string(free) + " free nodes of " +
                                                               std::to_string(total) + "; expected at least the " +
                                                               std::to_string(count) + " that the job needs");
    }
    std::stable_sort(free_of_block.begin(), free_of_block.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::vector<int> nodes;
    for (const std::vector<int>& block : free_of_block) {
        nodes.insert(nodes.end(), block.begin(), block.end());
    }
    nodes.resize(static_cast<std::size_t>(count));
    return nodes;
}

std::vector<int> listed_nodes(const Plan& plan, int total, int count) {
    const std::string where = plan.file + ": $.placement";
    if (static_cast<int>(plan.placement_nodes.size()) < count) {
        throw InputError(where, "found " + std::to_string(plan.placement_nodes.size()) +
                                    " nodes; expected at least the " + std::to_string(count) + " that the job needs");
    }
    std::vector<int> sorted = plan.placement_nodes;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.front() < 0 || sorted.back() >= total) {
        throw InputError(where, "found node " + std::to_string(sorted.front() < 0 ? sorted.front() : sorted.back()) +
                                    "; expected numbers from 0 to " + std::to_string(total - 1));
    }
    const auto repeated = std::adjacent_find(sorted.begin(), sorted.end());
    if (repeated != sorted.end()) {
        throw InputError(where, "found node " + std::to_string(*repeated) + " twice; expected each node once");
    }
    return {plan.placement_nodes.begin(), plan.placement_nodes.begin() + count};
}

std::vector<int> place(const Plan& plan, const Machine& machine, int count) {
    const int total = machine_nodes(machine.fabric);
    switch (plan.placement) {
        case PlacementKind::kContiguous: break;
        case PlacementKind::kScattered: return scattered_nodes(machine.fabric, count);
        case PlacementKind::kRandom: return random_nodes(total, count, plan.placement_seed);
        case PlacementKind::kScheduled: return scheduled_nodes(plan, machine.fabric, count);
        case PlacementKind::kList: return listed_nodes(plan, total, count);
    }
    std::vector<int> nodes(static_cast<std::size_t>(count));
    std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
}

void check_grid(const Plan& plan, int tiles) {
    const bool positive = std::min({tiles, plan.pp, plan.dp, plan.ep, plan.etp, plan.tp, plan.cp}) > 0;
    if (!positive || tiles_per_replica(plan) * plan.dp != tiles) {
        throw InputError(plan.file, "found pp * dp * ep * etp = " + std::to_string(plan.pp) + " * " +
                                        std::to_string(plan.dp) + " * " + std::to_string(plan.ep) + " * " +
                                        std::to_string(plan.etp) + "; expected the number of tiles, " +
                                        std::to_string(tiles));
    }
    const double dense = static_cast<double>(plan.tp) * plan.cp;
    const int stage_ranks = tiles / plan.pp;
    if (dense > stage_ranks || stage_ranks % static_cast<int>(dense) != 0) {
        throw InputError(plan.file, "found tp * cp = " + std::to_string(plan.tp) + " * " + std::to_string(plan.cp) +
                                        "; expected a divisor of the " + std::to_string(stage_ranks) +
                                        " tiles of a stage");
    }
}

int global_batch_of(const Plan& plan, int data_parallel) {
    const double batch = static_cast<double>(plan.micro_batch_size) * plan.micro_batches * data_parallel;
    if (batch < 1 || batch > std::numeric_limits<int>::max()) {
        throw InputError(
            plan.file,
            "found micro_batch_size * micro_batches * data_parallel = " + std::to_string(plan.micro_batch_size) +
                " * " + std::to_string(plan.micro_batches) + " * " + std::to_string(data_parallel) +
                "; expected 1 to " + std::to_string(std::numeric_limits<int>::max()) + " sequences");
    }
    return static_cast<int>(batch);
}

}  // namespace

int Layout::rank(int stage, int n) const {
    AUSPEX_CHECK(stage >= 0 && stage < pp && n >= 0 && n < stage_ranks, "a rank of the layout");
    const int expert_rank = n / etp;
    return expert_rank / ep * stride[index_of(Axis::kDp)] + stage * stride[index_of(Axis::kPp)] +
           expert_rank % ep * stride[index_of(Axis::kEp)] + n % etp * stride[index_of(Axis::kTp)];
}

GridCoordinates grid_coordinates(const Layout& layout, int rank) {
    AUSPEX_CHECK(rank >= 0 && rank < layout.tiles, "a rank of the layout");
    const auto along = [&](Axis axis, int extent) { return rank / layout.stride[index_of(axis)] % extent; };
    return {along(Axis::kPp, layout.pp), along(Axis::kDp, layout.dp), along(Axis::kEp, layout.ep),
            along(Axis::kTp, layout.etp)};
}

Layout rank_grid(const Plan& plan, int tiles) {
    check_grid(plan, tiles);
    Layout layout;
    layout.tiles = tiles;
    layout.pp = plan.pp, layout.dp = plan.dp, layout.ep = plan.ep, layout.etp = plan.etp, layout.tp = plan.tp,
    layout.cp = plan.cp, layout.cp_all_to_all = context_split(plan).all_to_all,
    layout.shard_replicas = plan.shard_replicas, layout.reshard_ranks = plan.reshard_ranks;
    layout.stage_ranks = tiles / plan.pp;
    layout.data_parallel = layout.stage_ranks / (plan.tp * plan.cp);
    layout.global_batch = global_batch_of(plan, layout.data_parallel);
    layout.tiles_per_node = tiles;
    layout.node_of_job_node = {0};
    const std::array<int, 4> extent{plan.dp, plan.pp, plan.ep, plan.etp};
    int stride = 1;
    for (std::size_t i = plan.rank_order.size(); i-- > 0;) {
        const std::size_t axis = index_of(plan.rank_order[i]);
        layout.stride[axis] = stride;
        stride *= extent[axis];
    }
    layout.pp_stride = layout.stride[index_of(Axis::kPp)];
    return layout;
}

Layout make_layout(const Plan& plan, const Machine& machine, int tiles) {
    Layout layout = rank_grid(plan, tiles);
    layout.tiles_per_node = machine.node.tiles;
    layout.nodes = (tiles - 1) / layout.tiles_per_node + 1;
    const int nodes_there = std::min(machine.fabric.max_nodes, machine_nodes(machine.fabric));
    if (layout.nodes > nodes_there) {
        throw InputError(plan.file, "found " + std::to_string(tiles) + " tiles, which are " +
                                        std::to_string(layout.nodes) + " nodes of " + machine.name +
                                        "; expected at most " + std::to_string(nodes_there) + " nodes");
    }
    layout.node_of_job_node = place(plan, machine, layout.nodes);
    return layout;
}

}  // namespace auspex::models
