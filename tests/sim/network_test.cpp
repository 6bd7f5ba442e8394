/// @file Patterns and their rates: against flows one by one, in company, and with more capacity.
#include "sim/network.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "network_fixture.hpp"
#include "sim/flow_fold.hpp"
#include "sim/flow_pattern.hpp"
#include "sim/max_min.hpp"

namespace auspex {
namespace {

using testing_network::Grid;
using testing_network::layout_of;
using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::switch_machine;

using Algorithm = CollectiveAlgorithm;

constexpr StepShape kShapes[] = {StepShape::kShift,    StepShape::kXor,  StepShape::kFoldIn,  StepShape::kFoldOut,
                                 StepShape::kAllPairs, StepShape::kTree, StepShape::kScatter, StepShape::kRootToAll};

std::vector<double> capacities_of(const Fabric& fabric) {
    std::vector<double> capacities;
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
        capacities.push_back(fabric.capacity_bytes_per_s(link));
    }
    return capacities;
}

/// Max-min rates of flows, none folded.
std::vector<double> rates_one_by_one(const FlowSet& flows, const std::vector<double>& capacities) {
    std::vector<FlowClass> classes(flows.count());
    for (std::size_t f = 0; f < flows.count(); ++f) {
        for (std::uint32_t i = flows.begin[f]; i < flows.begin[f + 1]; ++i) {
            classes[f].links.push_back(flows.legs[i].link);
            classes[f].weights.push_back(flows.legs[i].weight);
        }
    }
    return max_min_rates(capacities, classes);
}

struct Case {
    Machine machine;
    Layout layout;
};

/// Small jobs on both kinds of machine, in two placements; the last has a node that is not full.
std::vector<Case> cases() {
    std::vector<Case> made;
    for (const Machine& machine : {mesh_machine(), switch_machine()}) {
        const int tiles = machine.node.tiles;
        for (const PlacementKind placement : {PlacementKind::kContiguous, PlacementKind::kScattered}) {
            made.push_back({machine, layout_of(machine, {.pp = 2, .dp = 5, .ep = tiles, .placement = placement})});
            made.push_back({machine, layout_of(machine, {.dp = 3, .ep = tiles / 2 + 1, .placement = placement})});
        }
    }
    return made;
}

// Loads and flows of the builder (templates of nodes, counts of all pairs) = sums over the routes of all flows; and its
// rate, the least capacity / load, is the slowest max-min rate of all flows.
TEST(Network, a_pattern_equals_the_sum_of_its_flows) {
    for (const Case& on : cases()) {
        const Fabric fabric(on.machine, plain_stack(), on.layout);
        const std::vector<double> capacities = capacities_of(fabric);
        PatternBuilder builder(fabric, 1e-6, 5e-6);
        for (const GroupKind group : {GroupKind::kEp, GroupKind::kExpertDp, GroupKind::kStage, GroupKind::kWorld}) {
            const GroupSet whole = flatten(groups_of(on.layout, group, 0));
            for (const Level level : {Level::kFlat, Level::kInner}) {
                const GroupSet groups = subgroups(whole, level, fabric.tiles_per_node());
                for (const StepShape shape : kShapes) {
                    const PatternKey key{group, 0, level, shape, 1};
                    const FlowPattern pattern = builder.build(key, groups);
                    FlowSet flows;
                    append_flows(fabric, key, groups, 0, flows);
                    std::map<std::uint32_t, double> loads;
                    for (const Leg& leg : flows.legs) {
                        loads[leg.link] += leg.weight;
                    }
                    ASSERT_EQ(pattern.loads.size(), loads.size())
                        << "group " << static_cast<int>(group) << " level " << static_cast<int>(level) << " shape "
                        << static_cast<int>(shape);
                    for (const LinkLoad& on_link : pattern.loads) {
                        EXPECT_NEAR(on_link.load, loads.at(on_link.link), 1e-9 * on_link.load);
                    }
                    EXPECT_EQ(pattern.flows, flows.count());
                    if (flows.count() > 0) {
                        const std::vector<double> rates = rates_one_by_one(flows, capacities);
                        const double slowest = *std::min_element(rates.begin(), rates.end());
                        EXPECT_NEAR(pattern.solo_rate, slowest, 1e-9 * slowest);
                    }
                }
            }
        }
    }
}

// Random sets of patterns (all-reduce rings, gathers, sends of both stages): rates of the network = least max-min rate
// among each pattern's flows when all flows of the set are solved one by one. Some sets repeat a pattern.
TEST(Network, rates_of_a_set_equal_max_min_over_all_its_flows) {
    Rng rng(23);
    for (const Case& on : cases()) {
        Network network(on.machine, plain_stack(), on.layout);
        const Fabric& fabric = network.fabric();
        const std::vector<double> capacities = capacities_of(fabric);
        struct Known {
            PatternId id;
            PatternKey key;
        };
        std::vector<Known> known;
        for (const int stage : on.layout.pp == 1 ? std::vector{0} : std::vector{0, 1}) {
            for (const GroupKind group : {GroupKind::kEp, GroupKind::kExpertDp, GroupKind::kStage}) {
                const Transfer ring = network.unroll(CommKind::kAllGather, group, stage, 1e6);
                if (!ring.phases.empty()) {
                    known.push_back({ring.phases.front().pattern, {group, stage, Level::kFlat, StepShape::kShift, 1}});
                }
            }
            if (on.layout.pp > 1) {
                const Transfer send = network.unroll(CommKind::kSend, GroupKind::kNextStage, stage, 1e6);
                known.push_back(
                    {send.phases.front().pattern, {GroupKind::kNextStage, stage, Level::kFlat, StepShape::kPairs, 0}});
            }
        }
        for (int trial = 0; trial < 40; ++trial) {
            std::vector<PatternId> active;
            FlowSet flows;
            const std::size_t count = 1 + rng.below(4);
            for (std::uint32_t i = 0; i < count; ++i) {
                const Known& chosen = known[rng.below(known.size())];
                active.push_back(chosen.id);
                append_flows(fabric, chosen.key, flatten(groups_of(on.layout, chosen.key.group, chosen.key.stage)), i,
                             flows);
            }
            const std::vector<double> rates = rates_one_by_one(flows, capacities);
            std::vector<double> slowest(count, std::numeric_limits<double>::infinity());
            for (std::size_t f = 0; f < flows.count(); ++f) {
                slowest[flows.owner[f]] = std::min(slowest[flows.owner[f]], rates[f]);
            }
            const std::span<const double> found = network.rates(active);
            for (std::size_t i = 0; i < count; ++i) {
                EXPECT_NEAR(found[i], slowest[i], 1e-9 * slowest[i]);
            }
        }
    }
}

// Sends of all 32 ranks of a leaf share its uplink with whatever else leaves the leaf.
TEST(Network, an_uplink_is_shared_by_all_that_leave_the_leaf) {
    Machine machine = switch_machine();
    machine.fabric.taper = 0.0375;  // uplink of a leaf: 4 x 8 x 50 GB/s x taper = 60 GB/s
    Stack stack = plain_stack();
    stack.rank_bytes_per_s = 40e9;
    // One leaf a stage: 32 ranks each. A send crosses the uplink with 32 flows.
    Network network(machine, stack, layout_of(machine, {.pp = 2, .dp = 1, .ep = 32}));
    const PatternId send = network.unroll(CommKind::kSend, GroupKind::kNextStage, 0, 1e6).phases.front().pattern;
    const PatternId world = network.unroll(CommKind::kAllGather, GroupKind::kWorld, 0, 1e6).phases.front().pattern;
    // The uplink carries 32 sends or more: 60 / 32 alone.
    EXPECT_DOUBLE_EQ(network.solo_rate(send), 60e9 / 32);
    const std::vector<PatternId> both{send, world};
    const std::span<const double> rates = network.rates(both);
    EXPECT_LT(rates[0], network.solo_rate(send));
    EXPECT_LE(rates[1], network.solo_rate(world));
}

TEST(Network, disjoint_patterns_keep_their_solo_rates) {
    const Machine machine = mesh_machine();
    Network network(machine, plain_stack(Algorithm::kDirect), layout_of(machine, {.pp = 2, .dp = 2, .ep = 12}));
    const PatternId first = network.unroll(CommKind::kAllGather, GroupKind::kEp, 0, 1e6).phases.front().pattern;
    const PatternId second = network.unroll(CommKind::kAllGather, GroupKind::kEp, 1, 1e6).phases.front().pattern;
    const std::vector<PatternId> both{second, first};
    EXPECT_TRUE(network.is_disjoint(first, both));
    EXPECT_DOUBLE_EQ(network.rates(both)[0], network.solo_rate(second));
    EXPECT_DOUBLE_EQ(network.rates(both)[1], network.solo_rate(first));
    EXPECT_EQ(network.sets_solved(), 0U);
}

// The same wires twice: half of the rate each; and the order of the set does not matter.
TEST(Network, a_pattern_beside_itself_halves_its_rate) {
    const Machine machine = mesh_machine();
    Network network(machine, plain_stack(), layout_of(machine, {.dp = 4, .ep = 12}));
    const PatternId ring = network.unroll(CommKind::kAllGather, GroupKind::kExpertDp, 0, 1e6).phases.front().pattern;
    const std::vector<PatternId> twice{ring, ring};
    EXPECT_NEAR(network.rates(twice)[0], network.solo_rate(ring) / 2, 1e-9 * network.solo_rate(ring));
    EXPECT_EQ(network.rates(twice)[0], network.rates(twice)[1]);
}

TEST(Network, a_set_is_solved_once_whatever_its_order) {
    const Machine machine = mesh_machine();
    Network network(machine, plain_stack(), layout_of(machine, {.dp = 4, .ep = 12}));
    const PatternId a = network.unroll(CommKind::kAllGather, GroupKind::kExpertDp, 0, 1e6).phases.front().pattern;
    const PatternId b = network.unroll(CommKind::kAllGather, GroupKind::kStage, 0, 1e6).phases.front().pattern;
    const std::vector<PatternId> ab{a, b}, ba{b, a};
    const std::vector<double> first(network.rates(ab).begin(), network.rates(ab).end());
    const std::vector<double> second(network.rates(ba).begin(), network.rates(ba).end());
    EXPECT_EQ(first[0], second[1]);
    EXPECT_EQ(first[1], second[0]);
    EXPECT_EQ(network.sets_solved(), 1U);
    EXPECT_TRUE(network.rates({}).empty());
}

TEST(Network, equal_patterns_share_an_id) {
    const Machine machine = mesh_machine();
    Network network(machine, plain_stack(), layout_of(machine, {.pp = 2, .dp = 4, .ep = 12}));
    const auto id = [&](CommKind comm, GroupKind group, int stage, double bytes) {
        return network.unroll(comm, group, stage, bytes).phases.front().pattern;
    };
    EXPECT_EQ(id(CommKind::kAllGather, GroupKind::kEp, 0, 1e6), id(CommKind::kReduceScatter, GroupKind::kEp, 0, 2e6));
    EXPECT_NE(id(CommKind::kAllGather, GroupKind::kEp, 0, 1e6), id(CommKind::kAllGather, GroupKind::kEp, 1, 1e6));
    EXPECT_EQ(id(CommKind::kAllGather, GroupKind::kWorld, 0, 1e6), id(CommKind::kAllGather, GroupKind::kWorld, 1, 1e6));
}

// One node a replica: the replicas of an expert are the outer level of the dense ones.
TEST(Network, kinds_of_groups_with_the_same_ranks_share_their_patterns) {
    const Machine machine = mesh_machine();
    Network network(machine, plain_stack(Algorithm::kHierarchical), layout_of(machine, {.pp = 2, .dp = 4, .ep = 12}));
    const Transfer expert = network.unroll(CommKind::kAllGather, GroupKind::kExpertDp, 1, 1e6);
    const Transfer dense = network.unroll(CommKind::kAllGather, GroupKind::kDenseDp, 1, 1e6);
    EXPECT_EQ(expert.phases.front().pattern, dense.phases.front().pattern);
}

// Exchanges of 240 x 239 flows, more than are told apart. Two of them and a send into stage 1: 2 x 228 + 1 flows into
// each rank, 10 GB/s / 457. The exchange of stage 0 shares its ranks with the send that is so slow: max-min gives it
// (10 - 10 / 457) / 228 GB/s; what it may safely have is the rate of 229 flows at once, 0.4 % less.
TEST(Network, a_huge_exchange_in_company_gets_a_safe_rate) {
    const Machine machine = mesh_machine();
    Stack stack = plain_stack(Algorithm::kDirect);
    Network network(machine, stack, layout_of(machine, {.pp = 2, .ep = 240}));
    const PatternId first = network.unroll(CommKind::kAllToAll, GroupKind::kEp, 0, 1e6).phases.front().pattern;
    const PatternId second = network.unroll(CommKind::kAllToAll, GroupKind::kEp, 1, 1e6).phases.front().pattern;
    const PatternId send = network.unroll(CommKind::kSend, GroupKind::kNextStage, 0, 1e6).phases.front().pattern;
    const std::vector<PatternId> active{first, send, second, second};
    const std::span<const double> rates = network.rates(active);
    EXPECT_NEAR(rates[0], 10e9 / 229, 1);
    EXPECT_NEAR(rates[0], (10e9 - 10e9 / 457) / 228, 0.005 * rates[0]);
    EXPECT_NEAR(rates[1], 10e9 / 457, 1);
    EXPECT_NEAR(rates[2], 10e9 / 457, 1);
}

// 16 replicas on 128 nodes of two groups: 12 rings cross from the first group to the second, once each way, and share 2
// x 25 GB/s when all of a flow stays on the minimal path.
TEST(Network, rings_over_two_groups_are_bounded_by_the_bundle_on_minimal_paths) {
    Machine machine = mesh_machine();
    machine.fabric.minimal_bias = 1;
    machine.fabric.local_links = 4;  // else the single local links between switches bind first
    Stack stack = plain_stack();
    stack.rank_bytes_per_s = 100e9;
    // rank_order puts dp slowest: replicas lie pp = 8 nodes apart, 8 of them in each group.
    Network network(machine, stack, layout_of(machine, {.pp = 8, .dp = 16, .ep = 12}));
    const Transfer transfer = network.unroll(CommKind::kReduceScatter, GroupKind::kExpertDp, 0, 1e9);
    const PatternId ring = transfer.phases.front().pattern;
    EXPECT_EQ(network.bottleneck(ring), LinkKind::kGlobal);
    EXPECT_DOUBLE_EQ(network.solo_rate(ring), 50e9 / 12);
    // Perfectly adaptive routing leaves the global links unnoticed.
    machine.fabric.minimal_bias = 0;
    Network adaptive(machine, stack, layout_of(machine, {.pp = 8, .dp = 16, .ep = 12}));
    const PatternId spread =
        adaptive.unroll(CommKind::kReduceScatter, GroupKind::kExpertDp, 0, 1e9).phases.front().pattern;
    EXPECT_GT(adaptive.solo_rate(spread), 2 * network.solo_rate(ring));
    EXPECT_NE(adaptive.bottleneck(spread), LinkKind::kGlobalSpread);
}

TEST(Network, doubling_a_capacity_never_lowers_a_solo_rate_and_halving_never_raises_it) {
    const auto rates = [](const Machine& machine, const Stack& stack) {
        Network network(machine, stack,
                        layout_of(machine, {.pp = 2, .dp = 40, .ep = 12, .placement = PlacementKind::kScattered}));
        std::vector<double> found;
        for (const GroupKind group : {GroupKind::kEp, GroupKind::kExpertDp, GroupKind::kStage, GroupKind::kWorld}) {
            found.push_back(
                network.solo_rate(network.unroll(CommKind::kAllGather, group, 0, 1e6).phases.front().pattern));
        }
        found.push_back(
            network.solo_rate(network.unroll(CommKind::kSend, GroupKind::kNextStage, 0, 1e6).phases.front().pattern));
        return found;
    };
    const std::vector<double> plain = rates(mesh_machine(), plain_stack());
    using Change = void (*)(Machine&, Stack&);
    const Change doublings[] = {
        [](Machine& m, Stack&) { m.node.pair_bytes_per_s *= 2; },
        [](Machine& m, Stack&) { m.node.mesh_bytes_per_s *= 2; },
        [](Machine& m, Stack&) { m.node.pcie_bytes_per_s *= 2; },
        [](Machine& m, Stack&) { m.node.socket_bytes_per_s *= 2; },
        [](Machine& m, Stack&) { m.node.nic_bytes_per_s *= 2; },
        [](Machine& m, Stack&) { m.fabric.link_bytes_per_s *= 2; },
        [](Machine& m, Stack&) { m.fabric.local_links *= 2; },
        [](Machine& m, Stack&) { m.fabric.global_links *= 2; },
        [](Machine&, Stack& s) { s.rank_bytes_per_s *= 2; },
        [](Machine&, Stack& s) { s.scale_up_efficiency *= 2; },
        [](Machine&, Stack& s) { s.scale_out_efficiency *= 2; },
    };
    int changed = 0;
    for (const Change change : doublings) {
        Machine machine = mesh_machine();
        Stack stack = plain_stack();
        change(machine, stack);
        const std::vector<double> more = rates(machine, stack);
        for (std::size_t i = 0; i < plain.size(); ++i) {
            EXPECT_GE(more[i], plain[i] * (1 - 1e-12));
            changed += more[i] > plain[i] ? 1 : 0;
        }
    }
    EXPECT_GT(changed, 0);
}

// Full nodes, one group of 12 a node: the pattern of 64 nodes is 64 times that of one, and its rate the same.
TEST(Network, sibling_groups_in_nodes_alike_run_at_the_rate_of_one) {
    const Machine machine = mesh_machine();
    Network one(machine, plain_stack(Algorithm::kDirect), layout_of(machine, {.ep = 12}));
    Network many(machine, plain_stack(Algorithm::kDirect), layout_of(machine, {.dp = 64, .ep = 12}));
    const Transfer alone = one.unroll(CommKind::kAllGather, GroupKind::kEp, 0, 1e6);
    const Transfer together = many.unroll(CommKind::kAllGather, GroupKind::kEp, 0, 1e6);
    EXPECT_EQ(one.solo_time_s(alone), many.solo_time_s(together));
    EXPECT_EQ(alone.bytes_sent, together.bytes_sent);
}

}  // namespace
}  // namespace auspex
