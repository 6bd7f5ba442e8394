/// @file Algorithms unrolled: bytes and rounds against their closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "network_fixture.hpp"
#include "sim/collective_phases.hpp"
#include "sim/network.hpp"

namespace auspex {
namespace {

using testing_network::layout_of;
using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::switch_machine;

using Algorithm = CollectiveAlgorithm;

/// A switch node as large as the group: n ranks, each with a port of `kPort` each way, alpha = 1 us message + 1 us
/// latency.
constexpr double kPort = 400e9, kAlpha = 2e-6, kLaunch = 4e-6;

Machine one_node(int tiles) {
    Machine machine = switch_machine();
    machine.node.tiles = machine.node.nics = tiles;
    return machine;
}

class OnOneSwitch : public testing::TestWithParam<int> {
 protected:
    [[nodiscard]] int n() const { return GetParam(); }
    [[nodiscard]] double log2_n() const { return std::ceil(std::log2(n())); }

    /// Unrolls on the n ranks of one switch node.
    Transfer unroll(CommKind comm, Algorithm algorithm, double bytes) {
        const Machine machine = one_node(n());
        Network network(machine, plain_stack(algorithm), layout_of(machine, {.dp = n()}));
        Transfer transfer = network.unroll(comm, GroupKind::kWorld, 0, bytes);
        time_s_ = network.solo_time_s(transfer);
        return transfer;
    }
    double time_s_ = 0;
};

constexpr double kBytes = 96e6;

// t = launch + 2 (n - 1) (alpha + B / n / port); sent 2 (n - 1) / n B.
TEST_P(OnOneSwitch, ring_all_reduce) {
    const Transfer transfer = unroll(CommKind::kAllReduce, Algorithm::kRing, kBytes);
    EXPECT_NEAR(time_s_, kLaunch + 2 * (n() - 1) * (kAlpha + kBytes / n() / kPort), 1e-3 * time_s_);
    EXPECT_NEAR(transfer.bytes_sent, 2.0 * (n() - 1) / n() * kBytes, 1e-9 * kBytes);
    EXPECT_EQ(transfer.rounds, 2 * (n() - 1));
    EXPECT_EQ(transfer.phases.size(), 1U);
}

// t = launch + (n - 1) (alpha + B / n / port); sent (n - 1) / n B.
TEST_P(OnOneSwitch, ring_reduce_scatter_and_all_gather) {
    for (const CommKind comm : {CommKind::kReduceScatter, CommKind::kAllGather}) {
        const Transfer transfer = unroll(comm, Algorithm::kRing, kBytes);
        EXPECT_NEAR(time_s_, kLaunch + (n() - 1) * (kAlpha + kBytes / n() / kPort), 1e-3 * time_s_);
        EXPECT_NEAR(transfer.bytes_sent, (n() - 1.0) / n() * kBytes, 1e-9 * kBytes);
    }
}

// A port sends to n - 1 ranks at once: t = launch + alpha + (n - 1) B / n / port.
TEST_P(OnOneSwitch, direct_collectives) {
    for (const CommKind comm : {CommKind::kReduceScatter, CommKind::kAllGather, CommKind::kAllToAll}) {
        const Transfer transfer = unroll(comm, Algorithm::kDirect, kBytes);
        EXPECT_NEAR(time_s_, kLaunch + kAlpha + (n() - 1) * kBytes / n() / kPort, 1e-3 * time_s_);
        EXPECT_NEAR(transfer.bytes_sent, (n() - 1.0) / n() * kBytes, 1e-9 * kBytes);
        EXPECT_EQ(transfer.rounds, 1);
    }
    const Transfer transfer = unroll(CommKind::kAllReduce, Algorithm::kDirect, kBytes);
    EXPECT_NEAR(time_s_, kLaunch + 2 * (kAlpha + (n() - 1) * kBytes / n() / kPort), 1e-3 * time_s_);
    EXPECT_NEAR(transfer.bytes_sent, 2.0 * (n() - 1) / n() * kBytes, 1e-9 * kBytes);
}

// Pairwise: n - 1 rounds of B / n.
TEST_P(OnOneSwitch, pairwise_all_to_all) {
    const Transfer transfer = unroll(CommKind::kAllToAll, Algorithm::kRing, kBytes);
    EXPECT_NEAR(time_s_, kLaunch + (n() - 1) * (kAlpha + kBytes / n() / kPort), 1e-3 * time_s_);
    EXPECT_NEAR(transfer.bytes_sent, (n() - 1.0) / n() * kBytes, 1e-9 * kBytes);
    EXPECT_EQ(transfer.rounds, n() - 1);
}

// Powers of two: log2 n rounds of B; others: one round before and one after among floor(log2 n).
TEST_P(OnOneSwitch, recursive_doubling_all_reduce) {
    const Transfer transfer = unroll(CommKind::kAllReduce, Algorithm::kRecursiveDoubling, kBytes);
    const bool power = power_of_two_within(n()) == n();
    const double rounds = power ? log2_n() : log2_n() - 1 + 2;
    EXPECT_NEAR(time_s_, kLaunch + rounds * (kAlpha + kBytes / kPort), 1e-3 * time_s_);
    EXPECT_EQ(transfer.rounds, static_cast<int>(rounds));
}

// p = largest power of two: t = launch + 2 log2 p alpha + 2 (p - 1) / p B / port, and 2 (alpha + B / port) for the
// ranks beyond.
TEST_P(OnOneSwitch, rabenseifner_all_reduce) {
    const Transfer transfer = unroll(CommKind::kAllReduce, Algorithm::kRabenseifner, kBytes);
    const double p = power_of_two_within(n());
    const double beyond = p == n() ? 0 : 2 * (kAlpha + kBytes / kPort);
    EXPECT_NEAR(time_s_, kLaunch + 2 * std::log2(p) * kAlpha + 2 * (p - 1) / p * kBytes / kPort + beyond,
                1e-3 * time_s_);
    const double sent = (p * 2 * (p - 1) / p + 2 * (n() - p)) / n() * kBytes;
    EXPECT_NEAR(transfer.bytes_sent, sent, 1e-9 * kBytes);
}

// A binomial tree passes B down ceil(log2 n) rounds; n - 1 messages in all.
TEST_P(OnOneSwitch, tree_broadcast) {
    const Transfer transfer = unroll(CommKind::kBroadcast, Algorithm::kRecursiveDoubling, kBytes);
    EXPECT_NEAR(time_s_, kLaunch + log2_n() * (kAlpha + kBytes / kPort), 1e-3 * time_s_);
    EXPECT_NEAR(transfer.bytes_sent, (n() - 1.0) / n() * kBytes, 1e-9 * kBytes);
}

// Scatter: the root's rounds send d / n of B for d = 1, 2, 4, ... < n; then a ring gathers.
TEST_P(OnOneSwitch, scatter_all_gather_broadcast) {
    (void)unroll(CommKind::kBroadcast, Algorithm::kRing, kBytes);
    const double scattered = std::exp2(log2_n()) - 1;
    const double expected =
        kLaunch + log2_n() * kAlpha + scattered * kBytes / n() / kPort + (n() - 1) * (kAlpha + kBytes / n() / kPort);
    EXPECT_NEAR(time_s_, expected, 1e-3 * time_s_);
}

// Dissemination: ceil(log2 n) rounds of latency, no bytes.
TEST_P(OnOneSwitch, barrier) {
    const Transfer transfer = unroll(CommKind::kBarrier, Algorithm::kRing, 0);
    EXPECT_NEAR(time_s_, kLaunch + log2_n() * kAlpha, 1e-9);
    EXPECT_EQ(transfer.bytes_sent, 0);
}

// The automatic choice is as fast as the best of those named.
TEST_P(OnOneSwitch, automatic_choice_is_the_fastest) {
    for (const double bytes : {8.0, 64e3, kBytes}) {
        double best = std::numeric_limits<double>::infinity();
        for (const Algorithm algorithm :
             {Algorithm::kRing, Algorithm::kRecursiveDoubling, Algorithm::kRabenseifner, Algorithm::kDirect}) {
            (void)unroll(CommKind::kAllReduce, algorithm, bytes);
            best = std::min(best, time_s_);
        }
        (void)unroll(CommKind::kAllReduce, Algorithm::kAuto, bytes);
        EXPECT_DOUBLE_EQ(time_s_, best);
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, OnOneSwitch, testing::Values(2, 3, 4, 7, 8, 12, 16));

// 12 tiles, mesh 31 GB/s a card pair shared by 4 tile pairs: 151 MB / 12 / (31 GB/s / 4) = 1.62 ms, 85 GB/s of bus
// bandwidth.
TEST(Collective, direct_all_gather_in_a_mesh_node_reaches_the_measured_bus_bandwidth) {
    const Machine machine = mesh_machine();
    Network network(machine, plain_stack(Algorithm::kDirect), layout_of(machine, {.ep = 12}));
    const Transfer transfer = network.unroll(CommKind::kAllGather, GroupKind::kEp, 0, 151e6);
    const double time_s = network.solo_time_s(transfer);
    EXPECT_NEAR(time_s, 4e-6 + 1e-6 + 2e-6 + 151e6 / 12 / (31e9 / 4), 1e-9);
    EXPECT_GT(151e6 * 11 / 12 / time_s, 81e9);
    EXPECT_LT(151e6 * 11 / 12 / time_s, 92e9);
    EXPECT_EQ(network.bottleneck(transfer.phases.front().pattern), LinkKind::kMesh);
    EXPECT_FALSE(transfer.leaves_node);
}

// 4 nodes of 8, one leaf. Inner: alpha 2 us, 7/8 B at 400 GB/s. Outer ring of 4: 3 (7.5 us + B / 8 / 4 at 50 GB/s a
// NIC: on a device's own NIC nothing is staged, so the stack's limit of a rank does not act).
TEST(Collective, hierarchical_reduce_scatter_and_all_gather) {
    const Machine machine = switch_machine();
    Network network(machine, plain_stack(Algorithm::kHierarchical), layout_of(machine, {.dp = 32}));
    const double outer = 3 * (5e-6 + 2.5e-6 + kBytes / 8 / 4 / 50e9), inner = kAlpha + 7.0 / 8 * kBytes / kPort;
    for (const CommKind comm : {CommKind::kReduceScatter, CommKind::kAllGather}) {
        const Transfer transfer = network.unroll(comm, GroupKind::kWorld, 0, kBytes);
        EXPECT_NEAR(network.solo_time_s(transfer), kLaunch + inner + outer, 1e-3 * (inner + outer));
        // (k - 1)/k B inside and (nodes - 1)/nodes B/k between: together (n - 1)/n B.
        EXPECT_NEAR(transfer.bytes_sent, 31.0 / 32 * kBytes, 1e-9 * kBytes);
        EXPECT_EQ(transfer.algorithm, Algorithm::kHierarchical);
        EXPECT_TRUE(transfer.leaves_node);
    }
    const Transfer all = network.unroll(CommKind::kAllReduce, GroupKind::kWorld, 0, kBytes);
    EXPECT_NEAR(network.solo_time_s(all), kLaunch + 2 * (inner + outer), 1e-3 * 2 * (inner + outer));
    EXPECT_NEAR(all.bytes_sent, 2 * 31.0 / 32 * kBytes, 1e-9 * kBytes);
}

TEST(Collective, hierarchical_gives_way_where_it_cannot_run) {
    const Machine machine = switch_machine();
    const Stack stack = plain_stack(Algorithm::kHierarchical);
    const auto played = [&](const testing_network::Grid& grid, GroupKind group) {
        Network network(machine, stack, layout_of(machine, grid));
        return network.unroll(CommKind::kAllReduce, group, 0, kBytes);
    };
    EXPECT_EQ(played({.dp = 8}, GroupKind::kWorld).algorithm, Algorithm::kDirect);  // one node
    EXPECT_EQ(played({.dp = 12}, GroupKind::kWorld).algorithm, Algorithm::kRing);   // 8 + 4 ranks
    // One rank a node: only the ring between nodes is left, 2 (n - 1)/n B of it.
    const Transfer outer = played({.dp = 4, .ep = 8}, GroupKind::kExpertDp);
    EXPECT_EQ(outer.phases.size(), 1U);
    EXPECT_NEAR(outer.bytes_sent, 2 * 3.0 / 4 * kBytes, 1e-9 * kBytes);
}

TEST(Collective, hierarchical_all_to_all_sends_everything_twice_but_leaves_the_node_in_fewer_messages) {
    const Machine machine = switch_machine();
    Network network(machine, plain_stack(Algorithm::kHierarchical), layout_of(machine, {.ep = 32}));
    const Transfer transfer = network.unroll(CommKind::kAllToAll, GroupKind::kEp, 0, kBytes);
    EXPECT_NEAR(transfer.bytes_sent, (7.0 / 8 + 3.0 / 4) * kBytes, 1e-9 * kBytes);
    EXPECT_EQ(transfer.rounds, 2);
}

TEST(Collective, small_all_reduce_takes_microseconds_in_a_node_and_log_of_nodes_between) {
    Machine machine = mesh_machine();
    Stack stack = plain_stack(Algorithm::kHierarchical);
    Network network(machine, stack, layout_of(machine, {.dp = 64, .ep = 12}));
    // Outer doubling over 64 nodes: 6 rounds; direct inside, before and after.
    const Transfer transfer = network.unroll(CommKind::kAllReduce, GroupKind::kWorld, 0, 8);
    EXPECT_EQ(transfer.rounds, 1 + 6 + 1);
}

TEST(Collective, rules_pick_the_algorithm_by_size) {
    Stack stack = plain_stack();
    stack.all_reduce = {{1e6, Algorithm::kRecursiveDoubling},
                        {std::numeric_limits<double>::infinity(), Algorithm::kRing}};
    EXPECT_EQ(algorithm_by_rule(stack.all_reduce, 1e6), Algorithm::kRecursiveDoubling);
    EXPECT_EQ(algorithm_by_rule(stack.all_reduce, 1e6 + 1), Algorithm::kRing);
    EXPECT_EQ(algorithm_by_rule({}, 1), Algorithm::kAuto);
}

TEST(Collective, halving_on_other_than_powers_of_two_is_a_ring) {
    EXPECT_EQ(phases_of(CommKind::kReduceScatter, Algorithm::kRabenseifner, {12, 1, 12}, 1e6, {}).algorithm,
              Algorithm::kRing);
    const CollectivePhases halving = phases_of(CommKind::kReduceScatter, Algorithm::kRabenseifner, {8, 1, 8}, 8e6, {});
    ASSERT_EQ(halving.steps.size(), 3U);
    EXPECT_DOUBLE_EQ(halving.steps[0].bytes, 4e6);  // most bytes to the neighbour
    EXPECT_EQ(halving.steps[0].distance, 1);
    EXPECT_DOUBLE_EQ(halving.steps[2].bytes, 1e6);
}

TEST(Collective, scale_stretches_the_bytes_on_the_wire_but_not_the_mean_sent) {
    const Machine machine = one_node(8);
    Network network(machine, plain_stack(Algorithm::kDirect), layout_of(machine, {.dp = 8}));
    const Transfer even = network.unroll(CommKind::kAllToAll, GroupKind::kWorld, 0, kBytes);
    const Transfer uneven = network.unroll(CommKind::kAllToAll, GroupKind::kWorld, 0, kBytes, 1.5);
    EXPECT_DOUBLE_EQ(uneven.phases.front().bytes, 1.5 * even.phases.front().bytes);
    EXPECT_DOUBLE_EQ(uneven.bytes_sent, even.bytes_sent);
}

// One message from every rank to its counterpart: no collective is started.
TEST(Collective, a_send_is_one_round_of_pairs) {
    const Machine machine = mesh_machine();
    Network network(machine, plain_stack(), layout_of(machine, {.pp = 2, .dp = 1, .ep = 12}));
    const Transfer transfer = network.unroll(CommKind::kSend, GroupKind::kNextStage, 0, 1e6);
    ASSERT_EQ(transfer.phases.size(), 1U);
    EXPECT_DOUBLE_EQ(transfer.bytes_sent, 1e6);
    EXPECT_DOUBLE_EQ(transfer.phases.front().latency_s, 5e-6 + 3e-6 + 0.35e-6);
    EXPECT_TRUE(transfer.leaves_node);
}

TEST(Collective, one_rank_and_no_communication_need_no_phases) {
    const Machine machine = mesh_machine();
    Network network(machine, plain_stack(), layout_of(machine, {.dp = 12}));
    EXPECT_TRUE(network.unroll(CommKind::kAllReduce, GroupKind::kTp, 0, 1e6).phases.empty());
    EXPECT_TRUE(network.unroll(CommKind::kNone, GroupKind::kWorld, 0, 1e6).phases.empty());
    EXPECT_TRUE(network.unroll(CommKind::kReceive, GroupKind::kWorld, 0, 1e6).phases.empty());
}

// More ranks than run in lockstep: the same bytes at the same ports, n - 1 messages of latency.
TEST(Collective, a_large_pairwise_exchange_keeps_its_latency_and_bytes) {
    const Machine machine = one_node(80);
    Network network(machine, plain_stack(Algorithm::kRing), layout_of(machine, {.dp = 80}));
    const Transfer transfer = network.unroll(CommKind::kAllToAll, GroupKind::kWorld, 0, kBytes);
    const double expected = kLaunch + 79 * (kAlpha + kBytes / 80 / kPort);
    EXPECT_NEAR(network.solo_time_s(transfer), expected, 1e-3 * expected);
    EXPECT_EQ(transfer.rounds, 79);
}

}  // namespace
}  // namespace auspex
