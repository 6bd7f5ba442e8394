/// @file Rates of patterns: alone, in company, among equals, and with more capacity.
#include "sim/network/collective/network.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "network_cases.hpp"

namespace auspex::network {
namespace {

using testing_network::Case;
using testing_network::cases;
using testing_network::layout_of;
using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::switch_machine;

using Algorithm = models::CollectiveAlgorithm;

// Nodes of one switch are alike, and so are switches of one leaf: whoever swaps them changes no time. The nodes of a
// job in another order change the ring, but not what every rank exchanges with every other.
TEST(Network, swapping_equal_nodes_changes_nothing) {
    const models::Machine machine = mesh_machine();  // nodes 2 k and 2 k + 1 hang on one switch
    const auto times = [&](const std::vector<int>& nodes) {
        models::Plan plan;
        plan.dp = static_cast<int>(nodes.size());
        plan.ep = 12;
        plan.placement = models::PlacementKind::kList;
        plan.placement_nodes = nodes;
        Network network(machine, plain_stack(), make_layout(plan, machine, plan.dp * plan.ep));
        std::vector<double> found;
        for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kDirect, Algorithm::kRecursiveDoubling}) {
            for (const models::GroupKind group :
                 {models::GroupKind::kEp, models::GroupKind::kExpertDp, models::GroupKind::kStage}) {
                const Transfer transfer =
                    network.unroll_as({algorithm, 1}, schedule::CommKind::kAllGather, group, 0, 1e8);
                found.push_back(network.solo_time_s(transfer));
            }
        }
        return found;
    };
    EXPECT_EQ(times({0, 2, 64, 66, 4, 6, 128, 130}), times({1, 3, 65, 67, 5, 7, 129, 131}));
    const std::vector<double> some = times({0, 2, 64, 66}), reversed = times({66, 64, 2, 0});
    for (std::size_t i = 3; i < 6; ++i) {
        EXPECT_DOUBLE_EQ(some[i], reversed[i]) << "all pairs";
    }
}

// Random sets of patterns (rings, sends of both stages): no link carries more than its capacity, and every
// pattern has a full link on which nobody is faster.
TEST(Network, rates_of_a_set_fill_no_link_beyond_its_capacity_and_leave_nothing_to_gain) {
    Rng rng(23);
    for (const Case& on : cases()) {
        Network network(on.machine, plain_stack(), on.layout);
        std::vector<PatternId> known;
        for (const int stage : on.layout.pp == 1 ? std::vector{0} : std::vector{0, 1}) {
            for (const models::GroupKind group :
                 {models::GroupKind::kEp, models::GroupKind::kExpertDp, models::GroupKind::kStage}) {
                for (const TransferPhase& phase :
                     network.unroll(schedule::CommKind::kAllGather, group, stage, 1e6).phases) {
                    known.push_back(phase.pattern);
                }
            }
            if (on.layout.pp > 1) {
                known.push_back(network.unroll(schedule::CommKind::kSend, models::GroupKind::kNextStage, stage, 1e6)
                                    .phases.front()
                                    .pattern);
            }
        }
        for (int trial = 0; trial < 40; ++trial) {
            std::vector<PatternId> active;
            for (const PatternId id : known) {
                if (rng.below(2) == 0 && std::find(active.begin(), active.end(), id) == active.end()) {
                    active.push_back(id);
                }
            }
            const std::span<const double> rates = network.rates(active);
            std::map<std::uint32_t, double> carried, fastest;
            for (std::size_t i = 0; i < active.size(); ++i) {
                for (const LinkLoad& on_link : network.loads(active[i])) {
                    carried[on_link.link] += on_link.load * rates[i];
                    fastest[on_link.link] = std::max(fastest[on_link.link], rates[i]);
                }
            }
            for (const auto& [link, bytes_per_s] : carried) {
                EXPECT_LE(bytes_per_s, network.fabric().capacity_bytes_per_s(link) * (1 + 1e-9));
            }
            for (std::size_t i = 0; i < active.size(); ++i) {
                const PatternLoads& loads = network.loads(active[i]);
                EXPECT_TRUE(std::any_of(loads.begin(), loads.end(),
                                        [&](const LinkLoad& on_link) {
                                            return carried[on_link.link] >=
                                                       network.fabric().capacity_bytes_per_s(on_link.link) *
                                                           (1 - 1e-9) &&
                                                   rates[i] >= fastest[on_link.link] * (1 - 1e-9);
                                        }))
                    << "pattern " << active[i] << " could be faster";
            }
        }
    }
}

// Every group of a stage by itself, all at once, against the one class that stands for them: nodes alike, one group
// each, and rings over one place of every node.
TEST(Network, groups_that_symmetry_makes_equal_have_the_rate_of_their_class_to_the_bit) {
    for (const models::Machine& machine : {mesh_machine(), switch_machine()}) {
        const models::Layout layout = layout_of(machine, {.pp = 2, .dp = 4, .ep = machine.node.tiles});
        for (const models::GroupKind group :
             {models::GroupKind::kEp, models::GroupKind::kExpertDp, models::GroupKind::kNextStage}) {
            Network network(machine, plain_stack(), layout);
            const bool pairs = group == models::GroupKind::kNextStage;
            const schedule::CommKind comm = pairs ? schedule::CommKind::kSend : schedule::CommKind::kAllGather;
            const PatternId all = network.unroll(comm, group, 0, 1e6).phases.front().pattern;
            std::vector<PatternId> members;
            for (std::size_t m = 0; m < network.sibling_count(group, 0); ++m) {
                members.push_back(network.unroll(comm, group, 0, 1e6, 1, static_cast<int>(m)).phases.front().pattern);
            }
            ASSERT_GT(members.size(), 3U);
            for (const double rate : network.rates(members)) {
                EXPECT_EQ(rate, network.solo_rate(all));
            }
        }
    }
}

// One leaf a stage, 32 ranks each: messages forward and (wrapping round) backward leave by the same uplink.
TEST(Network, an_uplink_is_shared_by_all_that_leave_the_leaf) {
    models::Machine machine = switch_machine();
    machine.fabric.taper = 0.0375;  // uplink of a leaf: 4 x 8 x 50 GB/s x taper = 60 GB/s
    models::Stack stack = plain_stack();
    stack.rank_bytes_per_s = 40e9;
    Network network(machine, stack, layout_of(machine, {.pp = 2, .dp = 1, .ep = 32}));
    const PatternId next =
        network.unroll(schedule::CommKind::kSend, models::GroupKind::kNextStage, 0, 1e6).phases.front().pattern;
    const PatternId previous =
        network.unroll(schedule::CommKind::kSend, models::GroupKind::kPreviousStage, 0, 1e6).phases.front().pattern;
    EXPECT_DOUBLE_EQ(network.solo_rate(next), 60e9 / 32);
    const std::vector<PatternId> both{next, previous};
    EXPECT_DOUBLE_EQ(network.rates(both)[0], 60e9 / 64);
    EXPECT_DOUBLE_EQ(network.rates(both)[1], 60e9 / 64);
}

TEST(Network, disjoint_patterns_keep_their_solo_rates) {
    const models::Machine machine = mesh_machine();
    Network network(machine, plain_stack(Algorithm::kDirect), layout_of(machine, {.pp = 2, .dp = 2, .ep = 12}));
    const PatternId first =
        network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kEp, 0, 1e6).phases.front().pattern;
    const PatternId second =
        network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kEp, 1, 1e6).phases.front().pattern;
    const std::vector<PatternId> both{second, first};
    EXPECT_TRUE(network.is_disjoint(first, both));
    EXPECT_DOUBLE_EQ(network.rates(both)[0], network.solo_rate(second));
    EXPECT_DOUBLE_EQ(network.rates(both)[1], network.solo_rate(first));
}

// The replicas of an expert are those of the dense part with the same expert index: the same wires twice, half of the
// rate each.
TEST(Network, a_pattern_of_two_kinds_of_groups_beside_itself_halves_its_rate) {
    const models::Machine machine = mesh_machine();
    Network network(machine, plain_stack(), layout_of(machine, {.dp = 4, .ep = 12}));
    const PatternId ring =
        network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kExpertDp, 0, 1e6).phases.front().pattern;
    const PatternId same =
        network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kDenseDpOuter, 0, 1e6).phases.front().pattern;
    ASSERT_EQ(ring, same);
    const std::vector<PatternId> twice{ring, same};
    EXPECT_DOUBLE_EQ(network.rates(twice)[0], network.solo_rate(ring) / 2);
    EXPECT_EQ(network.rates(twice)[0], network.rates(twice)[1]);
}

TEST(Network, a_set_has_the_same_rates_whatever_its_order) {
    const models::Machine machine = mesh_machine();
    Network network(machine, plain_stack(), layout_of(machine, {.dp = 4, .ep = 12}));
    const PatternId a =
        network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kExpertDp, 0, 1e6).phases.front().pattern;
    const PatternId b =
        network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kStage, 0, 1e6).phases.front().pattern;
    const std::vector<PatternId> ab{a, b}, ba{b, a};
    const std::vector<double> first(network.rates(ab).begin(), network.rates(ab).end());
    const std::vector<double> second(network.rates(ba).begin(), network.rates(ba).end());
    EXPECT_EQ(first[0], second[1]);
    EXPECT_EQ(first[1], second[0]);
    EXPECT_TRUE(network.rates({}).empty());
}

TEST(Network, equal_patterns_share_an_id) {
    const models::Machine machine = mesh_machine();
    Network network(machine, plain_stack(), layout_of(machine, {.pp = 2, .dp = 4, .ep = 12}));
    const auto id = [&](schedule::CommKind comm, models::GroupKind group, int stage, double bytes) {
        return network.unroll(comm, group, stage, bytes).phases.front().pattern;
    };
    EXPECT_EQ(id(schedule::CommKind::kAllGather, models::GroupKind::kEp, 0, 1e6),
              id(schedule::CommKind::kReduceScatter, models::GroupKind::kEp, 0, 2e6));
    EXPECT_NE(id(schedule::CommKind::kAllGather, models::GroupKind::kEp, 0, 1e6),
              id(schedule::CommKind::kAllGather, models::GroupKind::kEp, 1, 1e6));
    EXPECT_EQ(id(schedule::CommKind::kAllGather, models::GroupKind::kWorld, 0, 1e6),
              id(schedule::CommKind::kAllGather, models::GroupKind::kWorld, 1, 1e6));
}

// One node a replica: the replicas of an expert are the outer level of the dense ones.
TEST(Network, kinds_of_groups_with_the_same_ranks_share_their_patterns) {
    const models::Machine machine = mesh_machine();
    Network network(machine, plain_stack(Algorithm::kRing, 2), layout_of(machine, {.pp = 2, .dp = 4, .ep = 12}));
    const Transfer expert = network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kExpertDp, 1, 1e6);
    const Transfer dense = network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kDenseDp, 1, 1e6);
    EXPECT_EQ(expert.phases.front().pattern, dense.phases.front().pattern);
}

// 16 replicas on 128 nodes of two groups: 12 rings cross from the first group to the second, once each way, and share 2
// x 25 GB/s when all of a flow stays on the minimal path.
TEST(Network, rings_over_two_groups_are_bounded_by_the_bundle_on_minimal_paths) {
    models::Machine machine = mesh_machine();
    machine.fabric.routing = models::RoutingKind::kMinimal;
    machine.fabric.local_links = 100;  // else those to the switches of the global links bind first
    models::Stack stack = plain_stack();
    stack.rank_bytes_per_s = 100e9;
    // rank_order puts dp slowest: replicas lie pp = 8 nodes apart, 8 of them in each group.
    Network network(machine, stack, layout_of(machine, {.pp = 8, .dp = 16, .ep = 12}));
    const Transfer transfer = network.unroll(schedule::CommKind::kReduceScatter, models::GroupKind::kExpertDp, 0, 1e9);
    const PatternId ring = transfer.phases.front().pattern;
    EXPECT_EQ(network.fabric().kind(network.bottleneck(ring)), LinkKind::kGlobal);
    EXPECT_DOUBLE_EQ(network.solo_rate(ring), 50e9 / 12);
    // Perfectly adaptive routing leaves the global links unnoticed.
    machine.fabric.routing = models::RoutingKind::kAdaptive;
    Network adaptive(machine, stack, layout_of(machine, {.pp = 8, .dp = 16, .ep = 12}));
    const PatternId spread = adaptive.unroll(schedule::CommKind::kReduceScatter, models::GroupKind::kExpertDp, 0, 1e9)
                                 .phases.front()
                                 .pattern;
    EXPECT_GT(adaptive.solo_rate(spread), 2 * network.solo_rate(ring));
    EXPECT_NE(adaptive.fabric().kind(adaptive.bottleneck(spread)), LinkKind::kGlobalSpread);
}

TEST(Network, doubling_a_capacity_never_lowers_a_solo_rate_and_halving_never_raises_it) {
    const auto rates = [](const models::Machine& machine, const models::Stack& stack) {
        Network network(
            machine, stack,
            layout_of(machine, {.pp = 2, .dp = 40, .ep = 12, .placement = models::PlacementKind::kScattered}));
        std::vector<double> found;
        for (const models::GroupKind group : {models::GroupKind::kEp, models::GroupKind::kExpertDp,
                                              models::GroupKind::kStage, models::GroupKind::kWorld}) {
            found.push_back(network.solo_rate(
                network.unroll(schedule::CommKind::kAllGather, group, 0, 1e6).phases.front().pattern));
        }
        found.push_back(network.solo_rate(
            network.unroll(schedule::CommKind::kSend, models::GroupKind::kNextStage, 0, 1e6).phases.front().pattern));
        return found;
    };
    models::Machine mesh = mesh_machine();
    mesh.node.pair_both_bytes_per_s = 1.5 * mesh.node.pair_bytes_per_s;
    mesh.node.mesh_both_bytes_per_s = 1.5 * mesh.node.mesh_bytes_per_s;
    mesh.node.pcie_both_bytes_per_s = 1.5 * mesh.node.pcie_bytes_per_s;
    const std::vector<double> plain = rates(mesh, plain_stack());
    using Change = void (*)(models::Machine&, models::Stack&);
    const Change doublings[] = {
        [](models::Machine& m, models::Stack&) { m.node.pair_bytes_per_s *= 2; },
        [](models::Machine& m, models::Stack&) { m.node.mesh_bytes_per_s *= 2; },
        [](models::Machine& m, models::Stack&) { m.node.pcie_bytes_per_s *= 2; },
        [](models::Machine& m, models::Stack&) { m.node.pair_both_bytes_per_s *= 2; },
        [](models::Machine& m, models::Stack&) { m.node.mesh_both_bytes_per_s *= 2; },
        [](models::Machine& m, models::Stack&) { m.node.pcie_both_bytes_per_s *= 2; },
        [](models::Machine& m, models::Stack&) { m.node.socket_out_bytes_per_s *= 2; },
        [](models::Machine& m, models::Stack&) { m.node.socket_in_bytes_per_s *= 2; },
        [](models::Machine& m, models::Stack&) { m.node.nic_bytes_per_s *= 2; },
        [](models::Machine& m, models::Stack&) { m.fabric.link_bytes_per_s *= 2; },
        [](models::Machine& m, models::Stack&) { m.fabric.local_links *= 2; },
        [](models::Machine& m, models::Stack&) { m.fabric.global_links *= 2; },
        [](models::Machine&, models::Stack& s) { s.rank_bytes_per_s *= 2; },
        [](models::Machine&, models::Stack& s) { s.scale_up_efficiency *= 2; },
        [](models::Machine&, models::Stack& s) { s.scale_out_efficiency *= 2; },
    };
    int changed = 0;
    for (const Change change : doublings) {
        models::Machine machine = mesh;
        models::Stack stack = plain_stack();
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
    const models::Machine machine = mesh_machine();
    Network one(machine, plain_stack(Algorithm::kDirect), layout_of(machine, {.ep = 12}));
    Network many(machine, plain_stack(Algorithm::kDirect), layout_of(machine, {.dp = 64, .ep = 12}));
    const Transfer alone = one.unroll(schedule::CommKind::kAllGather, models::GroupKind::kEp, 0, 1e6);
    const Transfer together = many.unroll(schedule::CommKind::kAllGather, models::GroupKind::kEp, 0, 1e6);
    EXPECT_EQ(one.solo_time_s(alone), many.solo_time_s(together));
    EXPECT_EQ(alone.bytes_sent, together.bytes_sent);
}

}  // namespace
}  // namespace auspex::network
