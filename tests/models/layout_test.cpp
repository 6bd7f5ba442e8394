/// @file Layouts: ranks are a bijection, groups of every kind partition their stage by the coordinates they should
/// share, nodes follow placement.
#include "models/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/rng.hpp"

namespace auspex::models {
namespace {

/// 10 groups of 8 nodes with 4 tiles each.
Machine small_dragonfly() {
    Machine machine;
    machine.name = "small";
    machine.node.tiles = 4;
    machine.fabric.kind = FabricKind::kDragonfly;
    machine.fabric.groups = 10;
    machine.fabric.nodes_per_group = 8;
    machine.fabric.max_nodes = 80;
    return machine;
}

Plan grid(int pp, int dp, int ep, int etp, int tp, int cp) {
    Plan plan;
    plan.file = "plans/test.json";
    plan.pp = pp, plan.dp = dp, plan.ep = ep, plan.etp = etp, plan.tp = tp, plan.cp = cp;
    return plan;
}

std::string refusal(const Plan& plan, const Machine& machine, int tiles) {
    try {
        static_cast<void>(make_layout(plan, machine, tiles));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

/// What the members of a group of this kind have in common, by definition, from the rank's number in its stage.
std::pair<int, int> shared_by(const Layout& layout, GroupKind kind, int n) {
    const int expert = n / layout.etp % layout.ep;
    switch (kind) {
        case GroupKind::kTp: return {n / layout.tp, 0};
        case GroupKind::kCp: return {n / (layout.tp * layout.cp), n % layout.tp};
        case GroupKind::kEp: return {n / (layout.etp * layout.ep), n % layout.etp};
        case GroupKind::kEtp: return {n / layout.etp, 0};
        case GroupKind::kExpertDp: return {expert, n % layout.etp};
        case GroupKind::kDenseDp: return {n % layout.tp, 0};
        case GroupKind::kDenseDpOuter: {
            const bool whole = layout.tp % layout.etp == 0 || layout.etp % layout.tp == 0;
            return {n % layout.tp, whole ? expert : 0};
        }
        case GroupKind::kDenseDpInner:
            if (layout.tp % layout.etp == 0) {
                // n / tp within blocks of etp lcm(tp / etp, ep) ranks, after which (n mod tp, ep index) repeat
                const int slices = std::max(1, std::lcm(layout.tp / layout.etp, layout.ep));
                return {n / (layout.etp * slices), n % layout.tp};
            }
            return layout.etp % layout.tp == 0 ? std::pair{n / (layout.etp * layout.ep), n % layout.etp}
                                               : std::pair{n, 0};
        default: return {0, 0};
    }
}

constexpr std::array kKindsOfAStage{GroupKind::kTp,           GroupKind::kCp,           GroupKind::kEp,
                                    GroupKind::kEtp,          GroupKind::kExpertDp,     GroupKind::kDenseDp,
                                    GroupKind::kDenseDpOuter, GroupKind::kDenseDpInner, GroupKind::kStage};

void expect_partition(const Layout& layout, GroupKind kind, int stage) {
    std::map<std::pair<int, int>, std::vector<int>> expected;
    for (int n = 0; n < layout.stage_ranks; ++n) {
        expected[shared_by(layout, kind, n)].push_back(layout.rank(stage, n));
    }
    std::set<std::vector<int>> expected_groups;
    for (auto& [key, members] : expected) {
        EXPECT_EQ(static_cast<int>(members.size()), group_size(layout, kind)) << "kind " << static_cast<int>(kind);
        expected_groups.insert(members);
    }
    const auto groups = groups_of(layout, kind, stage);
    EXPECT_EQ(groups.size(), expected_groups.size()) << "kind " << static_cast<int>(kind);
    // Members stand in rising order of n: comparing the lists compares the ring order too.
    EXPECT_EQ(std::set<std::vector<int>>(groups.begin(), groups.end()), expected_groups)
        << "kind " << static_cast<int>(kind);
}

Plan random_grid(Rng& rng) {
    const auto pick = [&rng](std::uint64_t most) { return static_cast<int>(rng.below(most) + 1); };
    while (true) {
        Plan plan = grid(pick(4), pick(4), pick(6), pick(4), pick(4), pick(3));
        if (plan.dp * plan.ep * plan.etp % (plan.tp * plan.cp) != 0) {
            continue;
        }
        for (std::size_t i = 0; i < 2; ++i) {  // tp stays last
            std::swap(plan.rank_order[i], plan.rank_order[i + rng.below(3 - i)]);
        }
        return plan;
    }
}

TEST(Layout, every_rank_is_in_exactly_one_group_of_each_kind_on_random_grids) {
    Rng rng(20);
    const Machine machine = [] {
        Machine big = small_dragonfly();
        big.fabric.groups = 100, big.fabric.max_nodes = 800;
        return big;
    }();
    for (int trial = 0; trial < 300; ++trial) {
        const Plan plan = random_grid(rng);
        SCOPED_TRACE("pp " + std::to_string(plan.pp) + " dp " + std::to_string(plan.dp) + " ep " +
                     std::to_string(plan.ep) + " etp " + std::to_string(plan.etp) + " tp " + std::to_string(plan.tp) +
                     " cp " + std::to_string(plan.cp));
        const Layout layout = make_layout(plan, machine, tiles_of(plan));
        // tiles = pp * dp * ep * etp = pp * tp * cp * data_parallel
        EXPECT_EQ(layout.pp * layout.tp * layout.cp * layout.data_parallel, layout.tiles);
        std::set<int> ranks;
        for (int stage = 0; stage < layout.pp; ++stage) {
            for (int n = 0; n < layout.stage_ranks; ++n) {
                ranks.insert(layout.rank(stage, n));
            }
            for (const GroupKind kind : kKindsOfAStage) {
                expect_partition(layout, kind, stage);
            }
        }
        // rank(stage, n) is a bijection onto 0 .. tiles - 1.
        EXPECT_EQ(static_cast<int>(ranks.size()), layout.tiles);
        EXPECT_EQ(*ranks.begin(), 0);
        EXPECT_EQ(*ranks.rbegin(), layout.tiles - 1);
    }
}

TEST(Layout, mula_on_3072_tiles_puts_an_expert_group_on_each_node_and_stages_on_neighbouring_nodes) {
    Machine aurora = small_dragonfly();
    aurora.node.tiles = 12;
    aurora.fabric.groups = 166, aurora.fabric.nodes_per_group = 64, aurora.fabric.max_nodes = 10'624;
    Plan plan = grid(8, 32, 12, 1, 1, 1);
    plan.micro_batches = 8;
    const Layout layout = make_layout(plan, aurora, 3072);
    EXPECT_EQ(layout.nodes, 256);
    EXPECT_EQ(layout.data_parallel, 384);
    EXPECT_EQ(layout.global_batch, 3072);  // 1 * 8 * 384
    EXPECT_EQ(layout.pp_stride, 12);
    // rank = (dp index * 8 + stage) * 12 + ep index, with n = dp index * 12 + ep index
    EXPECT_EQ(layout.rank(3, 5 * 12 + 7), (5 * 8 + 3) * 12 + 7);
    for (const auto& group : groups_of(layout, GroupKind::kEp, 5)) {
        EXPECT_EQ(group.size(), 12U);
        EXPECT_EQ(group.front() / 12, group.back() / 12);
    }
    EXPECT_EQ(group_size(layout, GroupKind::kDenseDp), 384);
    EXPECT_EQ(group_size(layout, GroupKind::kDenseDpOuter), 32);
    EXPECT_EQ(group_size(layout, GroupKind::kExpertDp), 32);
    EXPECT_EQ(group_size(layout, GroupKind::kStage), 384);
    EXPECT_EQ(group_size(layout, GroupKind::kWorld), 3072);
}

TEST(Layout, dense_outer_groups_number_dp_where_tp_is_etp) {
    for (const int tp : {1, 2, 4}) {
        const Plan plan = grid(2, 3, 4, tp, tp, 1);
        EXPECT_EQ(group_size(make_layout(plan, small_dragonfly(), tiles_of(plan)), GroupKind::kDenseDpOuter), 3);
    }
    // tp = 2, etp = 3: the cut by ep index is uneven, so the groups are those of the dense replicas, 12 / 2.
    const Plan uneven = grid(1, 2, 2, 3, 2, 1);
    EXPECT_EQ(group_size(make_layout(uneven, small_dragonfly(), 12), GroupKind::kDenseDpOuter), 6);
}

TEST(Layout, dense_inner_groups_take_one_rank_of_each_outer_group_and_make_up_the_dense_replicas_on_random_grids) {
    Rng rng(21);
    Machine machine = small_dragonfly();
    machine.fabric.groups = 100, machine.fabric.max_nodes = 800;
    for (int trial = 0; trial < 300; ++trial) {
        const Plan plan = random_grid(rng);
        const Layout layout = make_layout(plan, machine, tiles_of(plan));
        // |inner| = |dense dp| / |outer|
        EXPECT_EQ(group_size(layout, GroupKind::kDenseDpInner) * group_size(layout, GroupKind::kDenseDpOuter),
                  group_size(layout, GroupKind::kDenseDp));
        std::map<int, int> outer_of, dense_of;  // rank -> number of its group
        const auto number = [&layout](GroupKind kind, std::map<int, int>& group_of) {
            int next = 0;
            for (const auto& group : groups_of(layout, kind, 0)) {
                for (const int rank : group) {
                    group_of[rank] = next;
                }
                ++next;
            }
        };
        number(GroupKind::kDenseDpOuter, outer_of);
        number(GroupKind::kDenseDp, dense_of);
        for (const auto& group : groups_of(layout, GroupKind::kDenseDpInner, 0)) {
            std::set<int> outer, dense;
            for (const int rank : group) {
                outer.insert(outer_of.at(rank));
                dense.insert(dense_of.at(rank));
            }
            EXPECT_EQ(outer.size(), group.size());
            EXPECT_EQ(dense.size(), 1U);
        }
    }
}

TEST(Layout, dense_inner_groups_are_the_expert_groups_where_tp_is_etp_and_smaller_where_tp_cuts_the_same_ranks) {
    const Layout same = make_layout(grid(2, 3, 4, 2, 2, 1), small_dragonfly(), 48);
    EXPECT_EQ(groups_of(same, GroupKind::kDenseDpInner, 1), groups_of(same, GroupKind::kEp, 1));
    // etp = 1, ep = 4, tp = 2, dp = 3: 12 / 2 = 6 replicas, in outer groups of 3 (dp); two of each block of 4 remain.
    const Layout cut = make_layout(grid(1, 3, 4, 1, 2, 1), small_dragonfly(), 12);
    EXPECT_EQ(group_size(cut, GroupKind::kDenseDpInner), 2);
    EXPECT_EQ(groups_of(cut, GroupKind::kDenseDpInner, 0).front(), (std::vector<int>{0, 2}));
    // etp = 1, ep = 2, tp = 2: the ep ranks are the tp ranks, and no other holds the same dense shard.
    EXPECT_EQ(group_size(make_layout(grid(1, 2, 2, 1, 2, 1), small_dragonfly(), 4), GroupKind::kDenseDpInner), 1);
}

TEST(Layout, neighbouring_stages_pair_counterparts_and_wrap_round) {
    const Layout layout = make_layout(grid(3, 2, 2, 1, 1, 1), small_dragonfly(), 12);
    for (int stage = 0; stage < 3; ++stage) {
        const auto next = groups_of(layout, GroupKind::kNextStage, stage);
        const auto previous = groups_of(layout, GroupKind::kPreviousStage, stage);
        ASSERT_EQ(next.size(), 4U);
        ASSERT_EQ(previous.size(), 4U);
        for (int n = 0; n < 4; ++n) {
            const auto at = static_cast<std::size_t>(n);
            EXPECT_EQ(next[at], (std::vector<int>{layout.rank(stage, n), layout.rank((stage + 1) % 3, n)}));
            EXPECT_EQ(previous[at], (std::vector<int>{layout.rank(stage, n), layout.rank((stage + 2) % 3, n)}));
        }
    }
    EXPECT_EQ(group_size(layout, GroupKind::kNextStage), 2);
    const Layout single = make_layout(grid(1, 2, 2, 1, 1, 1), small_dragonfly(), 4);
    EXPECT_EQ(groups_of(single, GroupKind::kNextStage, 0).front(), std::vector<int>{0});
    EXPECT_EQ(group_size(single, GroupKind::kNextStage), 1);
}

TEST(Layout, stages_that_have_the_same_parts_are_as_far_from_both_ends) {
    const Layout layout = make_layout(grid(4, 2, 1, 1, 1, 1), small_dragonfly(), 8);
    EXPECT_EQ(group_size(layout, GroupKind::kMirrorStage), 2);
    for (int stage = 0; stage < 4; ++stage) {
        const auto pairs = groups_of(layout, GroupKind::kMirrorStage, stage);
        ASSERT_EQ(pairs.size(), 2U);
        for (int n = 0; n < 2; ++n) {
            EXPECT_EQ(pairs[static_cast<std::size_t>(n)],
                      (std::vector<int>{layout.rank(stage, n), layout.rank(3 - stage, n)}));
        }
    }
    const Layout odd = make_layout(grid(3, 2, 1, 1, 1, 1), small_dragonfly(), 6);
    EXPECT_EQ(group_size(odd, GroupKind::kMirrorStage), 1);
    EXPECT_EQ(groups_of(odd, GroupKind::kMirrorStage, 0).size(), 2U);
}

TEST(Layout, the_world_is_all_ranks_in_order) {
    const Layout layout = make_layout(grid(2, 3, 2, 1, 1, 1), small_dragonfly(), 12);
    const auto world = groups_of(layout, GroupKind::kWorld, 1);
    ASSERT_EQ(world.size(), 1U);
    ASSERT_EQ(world.front().size(), 12U);
    for (std::size_t rank = 0; rank < 12; ++rank) {
        EXPECT_EQ(world.front()[rank], static_cast<int>(rank));
    }
}

TEST(Layout, a_last_node_may_be_partly_used) {
    const Layout layout = make_layout(grid(1, 5, 1, 1, 1, 1), small_dragonfly(), 5);
    EXPECT_EQ(layout.nodes, 2);
    EXPECT_EQ(layout.node_of_job_node.size(), 2U);
}

TEST(Layout, placements_are_contiguous_scattered_random_or_listed) {
    const Machine machine = small_dragonfly();
    Plan plan = grid(1, 48, 1, 1, 1, 1);  // 12 nodes
    EXPECT_EQ(make_layout(plan, machine, 48).node_of_job_node,
              (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));

    plan.placement = PlacementKind::kScattered;  // job node i in group i mod 10
    EXPECT_EQ(make_layout(plan, machine, 48).node_of_job_node,
              (std::vector<int>{0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 1, 9}));

    plan.placement = PlacementKind::kList;
    plan.placement_nodes = {79, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25};
    EXPECT_EQ(make_layout(plan, machine, 48).node_of_job_node,
              (std::vector<int>{79, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}));

    plan.placement = PlacementKind::kRandom;
    std::set<std::vector<int>> seen;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        plan.placement_seed = seed;
        const std::vector<int> nodes = make_layout(plan, machine, 48).node_of_job_node;
        EXPECT_EQ(nodes, make_layout(plan, machine, 48).node_of_job_node) << "the same seed gives the same nodes";
        EXPECT_EQ(std::set<int>(nodes.begin(), nodes.end()).size(), 12U);
        EXPECT_GE(*std::min_element(nodes.begin(), nodes.end()), 0);
        EXPECT_LT(*std::max_element(nodes.begin(), nodes.end()), 80);
        seen.insert(nodes);
    }
    EXPECT_EQ(seen.size(), 5U);
}

TEST(Layout, scattered_nodes_of_a_tree_go_round_its_leaves_and_of_rails_round_their_units) {
    Machine machine = small_dragonfly();
    machine.fabric = FabricRecipe{};
    machine.fabric.nodes_per_leaf = 4;
    machine.fabric.max_nodes = 10;  // leaves of 4, 4 and 2 nodes
    Plan plan = grid(1, 40, 1, 1, 1, 1);
    plan.placement = PlacementKind::kScattered;
    const std::vector<int> expected{0, 4, 8, 1, 5, 9, 2, 6, 3, 7};
    EXPECT_EQ(make_layout(plan, machine, 40).node_of_job_node, expected);
    machine.fabric.kind = FabricKind::kRail;
    EXPECT_EQ(make_layout(plan, machine, 40).node_of_job_node, expected);
}

// Half of 80 nodes free by chance, 10 groups of 8: the groups come by falling number of free nodes, nodes rise within a
// group, and a machine without enough free nodes is refused.
TEST(Layout, a_scheduled_job_takes_the_groups_with_most_free_nodes_first) {
    const Machine machine = small_dragonfly();
    Plan plan = grid(1, 80, 1, 1, 1, 1);  // 20 nodes
    plan.placement = PlacementKind::kScheduled;
    const std::vector<int> nodes = make_layout(plan, machine, 80).node_of_job_node;
    ASSERT_EQ(nodes.size(), 20U);
    std::vector<int> sizes{0};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i > 0 && nodes[i] / 8 != nodes[i - 1] / 8) {
            sizes.push_back(0);
        } else if (i > 0) {
            EXPECT_GT(nodes[i], nodes[i - 1]);
        }
        ++sizes.back();
    }
    EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
    EXPECT_EQ(std::set<int>(nodes.begin(), nodes.end()).size(), nodes.size());
    EXPECT_EQ(make_layout(plan, machine, 80).node_of_job_node, nodes);
    plan.placement_free = 0.1;
    EXPECT_THROW(static_cast<void>(make_layout(plan, machine, 80)), InputError);
}

TEST(Layout, grids_and_placements_that_cannot_be_are_refused) {
    const Machine machine = small_dragonfly();
    Plan plan = grid(1, 324, 1, 1, 1, 1);
    EXPECT_NE(refusal(plan, machine, 324).find("81 nodes of small; expected at most 80 nodes"), std::string::npos);
    EXPECT_NE(refusal(grid(2, 2, 2, 1, 1, 1), machine, 12).find("expected the number of tiles, 12"), std::string::npos);
    EXPECT_NE(refusal(grid(1, 6, 1, 1, 4, 1), machine, 6).find("expected a divisor of the 6 tiles of a stage"),
              std::string::npos);
    EXPECT_NE(refusal(grid(1, 2, 1, 1, 16'777'216, 16'777'216), machine, 2).find("expected a divisor"),
              std::string::npos);

    plan = grid(1, 12, 1, 1, 1, 1);  // 3 nodes
    plan.placement = PlacementKind::kList;
    plan.placement_nodes = {1, 2};
    EXPECT_NE(refusal(plan, machine, 12).find("found 2 nodes; expected at least the 3"), std::string::npos);
    plan.placement_nodes = {1, 2, 80};
    EXPECT_NE(refusal(plan, machine, 12).find("found node 80; expected numbers from 0 to 79"), std::string::npos);
    plan.placement_nodes = {1, -2, 3};
    EXPECT_NE(refusal(plan, machine, 12).find("found node -2"), std::string::npos);
    plan.placement_nodes = {1, 2, 1};
    EXPECT_NE(refusal(plan, machine, 12).find("found node 1 twice"), std::string::npos);

    plan = grid(1, 12, 1, 1, 1, 1);
    plan.micro_batch_size = plan.micro_batches = 1'000'000;
    EXPECT_NE(refusal(plan, machine, 12).find("micro_batch_size * micro_batches * data_parallel"), std::string::npos);
}

TEST(Layout, groups_that_shard_are_neighbours_and_replicas_are_as_far_apart_as_groups_are_long) {
    // dp 4, ep 2, tp 2 in two groups: 16 ranks of a stage, of which the first 8 and the last 8 shard by themselves.
    Plan plan = grid(1, 4, 2, 2, 2, 1);
    plan.optimizer = OptimizerSharding::kFsdp;
    plan.shard_replicas = 2;
    const Layout layout = make_layout(plan, small_dragonfly(), 16);
    EXPECT_EQ(groups_of(layout, GroupKind::kDenseShard, 0).front(), (std::vector<int>{0, 2, 4, 6}));
    EXPECT_EQ(groups_of(layout, GroupKind::kExpertShard, 0).front(), (std::vector<int>{0, 4}));
    EXPECT_EQ(groups_of(layout, GroupKind::kShardReplicas, 0).front(), (std::vector<int>{0, 8}));
    EXPECT_EQ(groups_of(layout, GroupKind::kDenseShard, 0).back(), (std::vector<int>{9, 11, 13, 15}));
}

TEST(Layout, ranks_that_keep_weights_for_the_backward_pass_are_neighbours_among_those_that_shard_them) {
    // dp 4, ep 2, tp 2: 8 ranks shard the dense part, 4 an expert; 2 neighbours of either have all of it.
    Plan plan = grid(1, 4, 2, 2, 2, 1);
    plan.optimizer = OptimizerSharding::kFsdp;
    plan.reshard_ranks = 2;
    const Layout layout = make_layout(plan, small_dragonfly(), 16);
    EXPECT_EQ(groups_of(layout, GroupKind::kDenseReshard, 0).front(), (std::vector<int>{0, 2}));
    EXPECT_EQ(groups_of(layout, GroupKind::kDenseReshard, 0).back(), (std::vector<int>{13, 15}));
    EXPECT_EQ(groups_of(layout, GroupKind::kExpertReshard, 0).front(), (std::vector<int>{0, 4}));
}

}  // namespace
}  // namespace auspex::models
