/// @file Patterns on random machines, plans and placements: the sums of the builder against every flow by itself, and
/// patterns that are adapted against those that are built.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "base/rng.hpp"
#include "network_fixture.hpp"
#include "sim/network/collective/flow_pattern.hpp"
#include "sim/network/collective/network.hpp"

namespace auspex::network {
namespace {

using namespace testing_network;

constexpr StepShape kShapes[] = {StepShape::kShift,     StepShape::kXor,      StepShape::kFoldIn,
                                 StepShape::kFoldOut,   StepShape::kAllPairs, StepShape::kTree,
                                 StepShape::kRootToAll, StepShape::kTreesUp,  StepShape::kTreesDown};

template <class T, std::size_t n>
T one_of(Rng& rng, const T (&choices)[n]) {
    return choices[rng.below(n)];
}

models::Machine random_dragonfly(Rng& rng) {
    SmallDragonfly shape;
    shape.groups = one_of(rng, {1, 3, 5, 9});
    shape.switches = one_of(rng, {1, 2, 3, 4, 8});
    shape.nodes_per_switch = one_of(rng, {1, 2, 3});
    shape.global_links = one_of(rng, {1, 2, 3});
    shape.routing =
        one_of(rng, {models::RoutingKind::kMinimal, models::RoutingKind::kAdaptive, models::RoutingKind::kValiant});
    models::Machine machine = small_dragonfly(shape);
    machine.fabric.detour_delay_s = one_of(rng, {0.0, 2e-6, 10e-6});
    machine.fabric.local_detour_delay_s = one_of(rng, {0.0, 1e-6});
    machine.node.tiles = machine.node.nics = one_of(rng, {1, 2, 4});
    return machine;
}

struct RandomJob {
    models::Machine machine;
    models::Layout layout;
};

RandomJob random_job(Rng& rng) {
    RandomJob job;
    const std::uint64_t kind = rng.below(4);
    job.machine = kind == 0 ? switch_machine() : kind == 1 ? rail_machine() : random_dragonfly(rng);
    job.machine.fabric.max_nodes = std::min(job.machine.fabric.max_nodes, kind < 2 ? 12 : 40);
    if (kind < 2) {
        job.machine.fabric.routing = one_of(rng, {models::RoutingKind::kMinimal, models::RoutingKind::kAdaptive});
    }
    const int most = job.machine.fabric.max_nodes * job.machine.node.tiles;
    models::Plan plan;
    plan.ep = static_cast<int>(1 + rng.below(static_cast<std::uint64_t>(std::min(most, 9))));
    plan.pp = most / plan.ep >= 2 ? static_cast<int>(1 + rng.below(2)) : 1;
    plan.dp = static_cast<int>(1 + rng.below(static_cast<std::uint64_t>(most / plan.ep / plan.pp)));
    plan.placement = one_of(
        rng, {models::PlacementKind::kContiguous, models::PlacementKind::kScattered, models::PlacementKind::kRandom});
    plan.placement_seed = rng.below(1000);
    std::shuffle(plan.rank_order.begin(), plan.rank_order.end(), std::minstd_rand(rng.below(1000)));
    job.layout = make_layout(plan, job.machine, plan.pp * plan.dp * plan.ep);
    return job;
}

bool is_pool(LinkKind kind) { return kind == LinkKind::kLocalPool || kind == LinkKind::kGlobalPool; }

/// Route by route.
struct Flows {
    std::map<std::uint32_t, double> loads;
    double latency_s = 0;
    int count = 0;
};

Flows flows_of(const Fabric& fabric, const PatternKey& key, const GroupSet& groups) {
    Flows flows;
    for (std::size_t g = 0; g < groups.count(); ++g) {
        const std::span<const int> group = groups.group(g);
        for_each_pair(key.shape, key.distance, static_cast<int>(group.size()), [&](int i, int j) {
            const Route route = fabric.route(group[static_cast<std::size_t>(i)], group[static_cast<std::size_t>(j)]);
            for (const Leg& leg : route.legs) {
                flows.loads[leg.link] += leg.weight;
            }
            flows.latency_s = std::max(flows.latency_s, route.latency_s);
            ++flows.count;
        });
    }
    return flows;
}

/// Weights of legs are parts of 2^-k: their sums are the same in any order.
bool sums_exactly(const models::FabricRecipe& fabric) {
    return fabric.kind != models::FabricKind::kDragonfly ||
           (std::has_single_bit(static_cast<unsigned>(fabric.switches_per_group)) &&
            (fabric.routing != models::RoutingKind::kMinimal || fabric.global_links != 3));
}

void expect_equal(const FlowPattern& a, const FlowPattern& b) {
    EXPECT_EQ(a.solo_rate, b.solo_rate);
    EXPECT_EQ(a.bottleneck, b.bottleneck);
    EXPECT_EQ(a.latency_s, b.latency_s);
    EXPECT_EQ(a.flows, b.flows);
    EXPECT_EQ(a.messages, b.messages);
    EXPECT_EQ(a.waits, b.waits);
    EXPECT_EQ(a.leaves_node, b.leaves_node);
    EXPECT_TRUE(std::equal(
        a.loads.begin(), a.loads.end(), b.loads.begin(), b.loads.end(),
        [](const LinkLoad& one, const LinkLoad& other) { return one.link == other.link && one.load == other.load; }));
}

/// Calls check(job, fabric, key, groups) for every shape on every kind of groups and level of random jobs.
template <class Check>
void for_random_patterns(int jobs, Check&& check) {
    for (int seed = 0; seed < jobs; ++seed) {
        Rng rng(static_cast<std::uint64_t>(seed));
        const RandomJob job = random_job(rng);
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Fabric fabric(job.machine, plain_stack(), job.layout);
        for (const models::GroupKind group :
             {models::GroupKind::kEp, models::GroupKind::kExpertDp, models::GroupKind::kStage}) {
            const GroupSet whole = flatten(groups_of(job.layout, group, job.layout.pp - 1));
            for (const Level level : {Level::kFlat, Level::kIntraNode, Level::kInterNode}) {
                if (level == Level::kInterNode && form_of(whole, fabric).per_node == 0) {
                    continue;
                }
                const GroupSet groups = subgroups(whole, level, fabric);
                for (const StepShape shape : kShapes) {
                    check(job, fabric, PatternKey{group, job.layout.pp - 1, level, shape, 1}, groups);
                }
            }
        }
    }
}

// Load of a link = sum over all flows of the part of each that takes it; latency = that of the slowest route. To the
// bit where the parts are whole multiples of a power of two, else to 1e-12 of the load.
TEST(Patterns, loads_are_those_of_every_flow_by_itself) {
    int patterns = 0, exchanges_between_groups = 0;
    for_random_patterns(
        120, [&](const RandomJob& job, const Fabric& fabric, const PatternKey& key, const GroupSet& groups) {
            const FlowPattern pattern = PatternBuilder(fabric).build(key, groups, {});
            const Flows flows = flows_of(fabric, key, groups);
            ASSERT_EQ(pattern.loads.size(), flows.loads.size()) << "shape " << static_cast<int>(key.shape);
            for (const LinkLoad& on : pattern.loads) {
                const double expected = flows.loads.at(on.link);
                if (!is_pool(fabric.kind(on.link))) {
                    ASSERT_NEAR(on.load, expected, sums_exactly(job.machine.fabric) ? 0 : 1e-12 * expected)
                        << fabric.name(on.link) << ", shape " << static_cast<int>(key.shape);
                }
            }
            EXPECT_EQ(pattern.flows, flows.count);
            EXPECT_EQ(pattern.latency_s, flows.latency_s);
            ++patterns;
            exchanges_between_groups += fabric.sums_exchanges() && key.shape == StepShape::kAllPairs &&
                                                pattern.leaves_node && fabric.block_count() > 1
                                            ? 1
                                            : 0;
        });
    EXPECT_GT(patterns, 2000);
    EXPECT_GT(exchanges_between_groups, 20);
}

// With one stage the world is the stage: of the world only first nodes and groups are added up, and no loads are kept,
// but its rate, its latency and its flows are the same. The subgroups of the world are those of one group.
TEST(Patterns, the_world_is_as_fast_as_the_one_stage_that_it_is) {
    for_random_patterns(120, [&](const RandomJob&, const Fabric& fabric, PatternKey key, const GroupSet& groups) {
        if (key.group != models::GroupKind::kStage) {
            return;
        }
        PatternBuilder builder(fabric);
        const FlowPattern pattern = builder.build(key, groups, {});
        key.group = models::GroupKind::kWorld;
        const FlowPattern world = builder.build(key, groups, {});
        EXPECT_EQ(world.solo_rate, pattern.solo_rate);
        EXPECT_EQ(world.latency_s, pattern.latency_s);
        EXPECT_EQ(world.flows, pattern.flows);
        EXPECT_EQ(world.messages, pattern.messages);
    });
}

// A pattern adapted to a fabric whose links and switches are faster or slower = the one built there, to the bit.
TEST(Patterns, an_adapted_pattern_is_the_one_that_is_built) {
    for_random_patterns(
        80, [&](const RandomJob& job, const Fabric& fabric, const PatternKey& key, const GroupSet& groups) {
            Rng rng(groups.ranks.size());
            models::Machine other = job.machine;
            for (double* const constant :
                 {&other.node.switch_bytes_per_s, &other.node.nic_bytes_per_s, &other.node.nic_latency_s,
                  &other.node.scale_up_latency_s, &other.fabric.link_bytes_per_s, &other.fabric.switch_latency_s}) {
                *constant *= 0.5 + rng.uniform();
            }
            const Fabric changed(other, plain_stack(), job.layout);
            if (!changed.routes_as(fabric)) {
                return;  // another number of uplinks
            }
            PatternBuilder before(fabric), after(changed);
            before.keep_direct();
            expect_equal(after.adapt(before.build(key, groups, {})), after.build(key, groups, {}));
        });
}

// Other numbers of groups, switches or uplinks are other routes: nothing is taken over.
TEST(Patterns, fabrics_that_route_otherwise_are_told_apart) {
    const models::Machine machine = small_dragonfly({.groups = 4, .switches = 4});
    const models::Layout layout = layout_of(machine, {.dp = 16});
    const Fabric fabric(machine, plain_stack(), layout);
    models::Machine other = machine;
    other.fabric.link_bytes_per_s *= 2;
    EXPECT_TRUE(fabric.routes_as(Fabric(other, plain_stack(), layout)));
    other.fabric.global_links = 2;
    EXPECT_FALSE(fabric.routes_as(Fabric(other, plain_stack(), layout)));
    models::Machine tree = switch_machine();
    tree.fabric.routing = models::RoutingKind::kMinimal;
    const models::Layout on_tree = layout_of(tree, {.dp = 64});
    models::Machine tapered = tree;
    tapered.fabric.taper = 0.25;  // half as many uplinks
    EXPECT_FALSE(Fabric(tree, plain_stack(), on_tree).routes_as(Fabric(tapered, plain_stack(), on_tree)));
}

}  // namespace
}  // namespace auspex::network
