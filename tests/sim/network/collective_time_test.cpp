/// @file Collectives on a network: times against alpha and beta.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "collective_closed_form.hpp"
#include "network_fixture.hpp"
#include "sim/network/collective/network.hpp"

namespace auspex::network {
namespace {

using namespace testing_collectives;
using testing_network::layout_of;
using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::switch_machine;

/// A switch node as large as the group: n ranks, each with a port of `kPort` each way, alpha = 1 us message + 1 us
/// latency; adding up takes no time.
constexpr double kPort = 400e9, kAlpha = 2e-6, kLaunch = 4e-6;

models::Machine adding_for_free(models::Machine machine) {
    machine.tile.hbm_bytes_per_s = 1e21;
    return machine;
}

models::Machine one_node(int tiles) {
    models::Machine machine = adding_for_free(switch_machine());
    machine.node.tiles = machine.node.nics = tiles;
    return machine;
}

// t = launch + rounds alpha + share B / port.
TEST(Collective, times_on_one_switch_are_those_of_alpha_and_beta_on_2_to_33_ranks) {
    const int pieces = 4;
    models::Stack stack = plain_stack();
    stack.tree_chunk_bytes = kBytes / 2 / pieces;
    for (int n = 2; n <= 33; ++n) {
        const models::Machine machine = one_node(n);
        Network network(machine, stack, layout_of(machine, {.dp = n}));
        for (const schedule::CommKind comm : kCollectives) {
            for (const AlgorithmChoice choice : candidates(comm, {n, 1, n, 1, 1}, 1)) {
                SCOPED_TRACE(name_of(comm, choice, {n, 1, n, 1, 1}));
                const Transfer transfer = network.unroll_as(choice, comm, models::GroupKind::kWorld, 0, kBytes);
                const auto [rounds, share] = closed_form(comm, choice.algorithm, n, pieces);
                const double expected_s = kLaunch + rounds * kAlpha + share * kBytes / kPort;
                EXPECT_NEAR(network.solo_time_s(transfer), expected_s, 1e-3 * expected_s);
                EXPECT_EQ(transfer.rounds, rounds);
                EXPECT_EQ(transfer.choice, choice);
            }
        }
        const Transfer barrier = network.unroll(schedule::CommKind::kBarrier, models::GroupKind::kWorld, 0, 0);
        EXPECT_NEAR(network.solo_time_s(barrier), kLaunch + ceil_log2(n) * kAlpha, 1e-9);
        EXPECT_EQ(barrier.bytes_sent, 0);
    }
}

// Reads what came and the sum, writes the sum: three passes over 15/16 B beside the exchange.
TEST(Collective, adding_up_takes_three_passes_over_memory) {
    models::Machine machine = one_node(16);
    Network free(machine, plain_stack(), layout_of(machine, {.dp = 16}));
    machine.tile.hbm_bytes_per_s = 1e12;
    Network paid(machine, plain_stack(), layout_of(machine, {.dp = 16}));
    const AlgorithmChoice ring{Algorithm::kRing, 1};
    const auto time_s = [&](Network& network, schedule::CommKind comm) {
        return network.solo_time_s(network.unroll_as(ring, comm, models::GroupKind::kWorld, 0, kBytes));
    };
    const double passes_s = 3 * 15.0 / 16 * kBytes / (1e12 * machine.tile.memory_efficiency);
    EXPECT_NEAR(time_s(paid, schedule::CommKind::kAllReduce) - time_s(free, schedule::CommKind::kAllReduce), passes_s,
                1e-9);
    EXPECT_NEAR(time_s(paid, schedule::CommKind::kAllGather) - time_s(free, schedule::CommKind::kAllGather), 0, 1e-12);
}

// 16 pieces of B/16 are read once each and one is written: 17/16 B.
TEST(Collective, adding_up_what_all_others_sent_at_once_is_one_pass) {
    models::Machine machine = one_node(16);
    Network free(machine, plain_stack(), layout_of(machine, {.dp = 16}));
    machine.tile.hbm_bytes_per_s = 1e12;
    Network paid(machine, plain_stack(), layout_of(machine, {.dp = 16}));
    const auto time_s = [&](Network& network) {
        return network.solo_time_s(network.unroll_as({Algorithm::kDirect, 1}, schedule::CommKind::kReduceScatter,
                                                     models::GroupKind::kWorld, 0, kBytes));
    };
    EXPECT_NEAR(time_s(paid) - time_s(free), 17.0 / 16 * kBytes / (1e12 * machine.tile.memory_efficiency), 1e-9);
}

// 8 nodes of one rank, two pieces of B/4: 3 + 1 rounds up and as many down, each with a message and a wire; each round
// up ends with the stack's reduction_step and adds three pieces, which are small enough for the host only where it says
// so.
TEST(Collective, a_double_tree_starts_an_addition_in_every_round_upwards) {
    models::Machine machine = adding_for_free(switch_machine());
    machine.node.tiles = machine.node.nics = 1;
    machine.fabric.nodes_per_leaf = 8;
    models::Stack stack = plain_stack();
    stack.tree_chunk_bytes = kBytes / 4;
    const auto time_s = [&](double reduction_step_s, double host_reduction_bytes) {
        stack.reduction_step_s = reduction_step_s;
        stack.host_reduction_bytes = host_reduction_bytes;
        Network network(machine, stack, layout_of(machine, {.dp = 8}));
        return network.solo_time_s(network.unroll_as({Algorithm::kDoubleBinaryTree, 1}, schedule::CommKind::kAllReduce,
                                                     models::GroupKind::kWorld, 0, kBytes));
    };
    EXPECT_NEAR(time_s(1e-3, 0) - time_s(0, 0), 4 * 1e-3, 1e-9);
    const double sent = kBytes / 4;
    EXPECT_NEAR(time_s(1e-3, sent / 2) - time_s(0, 0), 4 * 1e-3, 1e-9);
    EXPECT_NEAR(time_s(1e-3, sent / 1.25) - time_s(0, 0), 0.25 * 4 * 1e-3,
                1e-9);  // a share grows from size to twice it
    EXPECT_NEAR(time_s(1e-3, sent) - time_s(0, 0), 0, 1e-9);
}

// The automatic choice is as fast as the best of those named.
TEST(Collective, automatic_choice_is_the_fastest) {
    const models::Machine machine = one_node(12);
    Network network(machine, plain_stack(), layout_of(machine, {.dp = 12}));
    for (const double bytes : {8.0, 64e3, kBytes}) {
        double best_s = std::numeric_limits<double>::infinity();
        const auto time_s = [&](AlgorithmChoice choice) {
            return network.solo_time_s(
                network.unroll_as(choice, schedule::CommKind::kAllReduce, models::GroupKind::kWorld, 0, bytes));
        };
        for (const Algorithm algorithm : algorithms_of(schedule::CommKind::kAllReduce)) {
            best_s = std::min(best_s, time_s({algorithm, 1}));
        }
        EXPECT_DOUBLE_EQ(time_s({Algorithm::kAuto, 0}), best_s);
    }
}

// 12 tiles, mesh 31 GB/s a card pair shared by 4 tile pairs: 151 MB / 12 / (31 GB/s / 4) = 1.62 ms, 85 GB/s of bus
// bandwidth.
TEST(Collective, direct_all_gather_in_a_mesh_node_reaches_the_measured_bus_bandwidth) {
    const models::Machine machine = adding_for_free(mesh_machine());
    Network network(machine, plain_stack(Algorithm::kDirect), layout_of(machine, {.ep = 12}));
    const Transfer transfer = network.unroll(schedule::CommKind::kAllGather, models::GroupKind::kEp, 0, 151e6);
    const double time_s = network.solo_time_s(transfer);
    EXPECT_NEAR(time_s, 4e-6 + 1e-6 + 2e-6 + 151e6 / 12 / (31e9 / 4), 1e-9);
    EXPECT_GT(151e6 * 11 / 12 / time_s, 81e9);
    EXPECT_LT(151e6 * 11 / 12 / time_s, 92e9);
    EXPECT_EQ(network.fabric().kind(network.bottleneck(transfer.phases.front().pattern)), LinkKind::kMesh);
    EXPECT_FALSE(transfer.leaves_node);
}

// 4 nodes of 8, one leaf. Inner: alpha 2 us, 7/8 B at 400 GB/s. Outer ring of 4: 3 (7.5 us + B / 8 / 4 at 50 GB/s a
// NIC: on a device's own NIC nothing is staged, so the stack's limit of a rank does not act).
TEST(Collective, two_levels_take_the_time_of_both) {
    const models::Machine machine = adding_for_free(switch_machine());
    Network network(machine, plain_stack(), layout_of(machine, {.dp = 32}));
    const AlgorithmChoice ring{Algorithm::kRing, 2};
    const double outer = 3 * (5e-6 + 2.5e-6 + kBytes / 8 / 4 / 50e9), inner = kAlpha + 7.0 / 8 * kBytes / kPort;
    for (const schedule::CommKind comm : {schedule::CommKind::kReduceScatter, schedule::CommKind::kAllGather}) {
        const Transfer transfer = network.unroll_as(ring, comm, models::GroupKind::kWorld, 0, kBytes);
        EXPECT_NEAR(network.solo_time_s(transfer), kLaunch + inner + outer, 1e-3 * (inner + outer));
        // (k - 1)/k B inside and (nodes - 1)/nodes B/k between: together (n - 1)/n B.
        EXPECT_NEAR(transfer.bytes_sent, 31.0 / 32 * kBytes, 1e-9 * kBytes);
        EXPECT_TRUE(transfer.leaves_node);
    }
    const Transfer all = network.unroll_as(ring, schedule::CommKind::kAllReduce, models::GroupKind::kWorld, 0, kBytes);
    EXPECT_NEAR(network.solo_time_s(all), kLaunch + 2 * (inner + outer), 1e-3 * 2 * (inner + outer));
    EXPECT_NEAR(all.bytes_sent, 2 * 31.0 / 32 * kBytes, 1e-9 * kBytes);
}

// 4 nodes of 8 ranks and 8 NICs of 50 GB/s on one leaf: one ring crosses by one NIC a node and each way, 8 rings by all
// of them; a tile's port carries 7 rings, 7 x 50 of its 400 GB/s. Bus bandwidth: 50 and 8 x 50 GB/s.
TEST(Collective, several_rings_use_every_nic_of_a_node_where_one_ring_uses_one) {
    const models::Machine machine = adding_for_free(switch_machine());
    Network network(machine, plain_stack(), layout_of(machine, {.dp = 32}));
    const double alpha_s = 5e-6 + 2.5e-6, bytes = 1e12;
    for (const schedule::CommKind comm :
         {schedule::CommKind::kAllReduce, schedule::CommKind::kReduceScatter, schedule::CommKind::kAllGather}) {
        const double rounds = comm == schedule::CommKind::kAllReduce ? 62 : 31;
        const auto play = [&](Algorithm algorithm) {
            return network.unroll_as({algorithm, 1}, comm, models::GroupKind::kWorld, 0, bytes);
        };
        const Transfer one = play(Algorithm::kRing), several = play(Algorithm::kMultiRing);
        EXPECT_NEAR(network.solo_time_s(one), kLaunch + rounds * (alpha_s + bytes / 32 / 50e9), 1e-6);
        EXPECT_NEAR(network.solo_time_s(several), kLaunch + rounds * (alpha_s + bytes / 32 / 8 / 50e9), 1e-6);
        EXPECT_EQ(several.choice, (AlgorithmChoice{Algorithm::kMultiRing, 1}));
        EXPECT_EQ(several.rounds, one.rounds);
        EXPECT_NEAR(several.bytes_sent, one.bytes_sent, 1e-9 * bytes);
        EXPECT_EQ(network.fabric().kind(network.bottleneck(several.phases.front().pattern)), LinkKind::kNic);
    }
}

// Rings of all groups of a stage at once: two groups of half a node each share its NICs, each with 4 rings.
TEST(Collective, rings_of_siblings_share_the_nics_of_their_nodes) {
    const models::Machine machine = adding_for_free(switch_machine());
    Network network(machine, plain_stack(), layout_of(machine, {.dp = 2, .ep = 16}));
    const Transfer transfer = network.unroll_as({Algorithm::kMultiRing, 1}, schedule::CommKind::kAllGather,
                                                models::GroupKind::kEp, 0, kBytes);
    EXPECT_EQ(transfer.choice.algorithm, Algorithm::kMultiRing);
    EXPECT_DOUBLE_EQ(network.solo_rate(transfer.phases.front().pattern), 50e9);
}

// Host-attached NICs, staging whole: one rank a node copies B to the host and back over its card's link, and between
// the copies the ring runs at the stack's rate: 2 B / pcie + 2 (N - 1)/N B / rank rate.
TEST(Collective, a_transport_that_stages_whole_buffers_copies_before_and_after) {
    const models::Machine machine = adding_for_free(mesh_machine());
    models::Stack stack = plain_stack();
    stack.staging = models::Staging::kWhole;
    Network network(machine, stack, layout_of(machine, {.dp = 4, .ep = 12}));
    const auto time_s = [&](int member) {
        return network.solo_time_s(network.unroll_as({Algorithm::kRing, 1}, schedule::CommKind::kAllReduce,
                                                     models::GroupKind::kExpertDp, 0, 2e9, 1, member));
    };
    const double expected_s = 2 * 2e9 / machine.node.pcie_bytes_per_s + 2 * 3.0 / 4 * 2e9 / stack.rank_bytes_per_s;
    EXPECT_NEAR(time_s(0), expected_s, 1e-3 * expected_s);
    // Twelve at once: two tiles share a card's link, six those of a socket.
    const double out = std::min(machine.node.pcie_bytes_per_s / 2, machine.node.socket_out_bytes_per_s / 6);
    const double in = std::min(machine.node.pcie_bytes_per_s / 2, machine.node.socket_in_bytes_per_s / 6);
    const double copies_s = 2e9 / out + 2e9 / in;
    EXPECT_GT(time_s(kAllSiblings), copies_s + 2 * 3.0 / 4 * 2e9 / stack.rank_bytes_per_s);
}

// 12 ranks a node, 2 nodes, staging whole, two levels. Six ranks of a socket: copies of B each way at the socket's
// rates, B + B/12 each through its memory; between nodes a ring over 2 with B/12, B/24 twice at the rank's rate, and
// three passes of each over B/24 in the same memory to add up.
TEST(Collective, a_staged_all_reduce_over_two_levels_meets_in_host_memory) {
    models::Machine machine = adding_for_free(mesh_machine());
    machine.node.host_memory_bytes_per_s = 400e9;
    models::Stack stack = plain_stack();
    stack.staging = models::Staging::kWhole;
    stack.rank_bytes_per_s = 2e9;
    const double bytes = 2e9;
    const auto time_s = [&] {
        Network network(machine, stack, layout_of(machine, {.dp = 24}));
        return network.solo_time_s(network.unroll_as({Algorithm::kRing, 2}, schedule::CommKind::kAllReduce,
                                                     models::GroupKind::kWorld, 0, bytes));
    };
    const double out = std::min(machine.node.pcie_bytes_per_s / 2, machine.node.socket_out_bytes_per_s / 6);
    const double in = std::min(machine.node.pcie_bytes_per_s / 2, machine.node.socket_in_bytes_per_s / 6);
    const double in_memory_s = 6 * bytes * (13.0 / 12 + 3.0 / 24) / 400e9;
    const double expected_s = bytes / out + bytes / in + in_memory_s + 2 * bytes / 24 / 2e9;
    EXPECT_NEAR(time_s(), expected_s, 1e-3 * expected_s);
    // Links between tiles are not used; the memory of the host is.
    machine.node.mesh_bytes_per_s /= 4;
    machine.node.pair_bytes_per_s /= 4;
    EXPECT_NEAR(time_s(), expected_s, 1e-3 * expected_s);
    machine.node.host_memory_bytes_per_s /= 2;
    EXPECT_NEAR(time_s(), expected_s + in_memory_s, 1e-3 * expected_s);
}

// A group of n in a node that goes through the host: every rank sends B/n to n - 1 others twice, at the rate of its
// transport, and adds up n parts in between; with whole buffers staged, B is copied there and back, too. Two of a card
// and those with one on every card keep to the node's links, and alone on the node four have all that the job has.
TEST(Collective, groups_that_a_rule_sends_through_the_host_take_the_rate_of_their_transport) {
    models::Machine machine = adding_for_free(mesh_machine());
    models::Stack stack = plain_stack();
    stack.rank_bytes_per_s = 2e9;
    stack.node_paths = {{.max_ranks = 2}, {.every_card = true}, {.by_host = true}};
    const double bytes = 1.2e9;
    const auto time_s = [&](int n, bool alone, int member = kAllSiblings, bool next_to_each_other = true) {
        const int others = 12 / n;
        Network network(machine, stack,
                        layout_of(machine, next_to_each_other ? testing_network::Grid{.dp = others, .ep = n}
                                                              : testing_network::Grid{.dp = n, .ep = others}));
        if (alone) {
            network.let_groups_act_alone();
        }
        return network.solo_time_s(network.unroll_as(
            {Algorithm::kDirect, 1}, schedule::CommKind::kAllReduce,
            next_to_each_other ? models::GroupKind::kEp : models::GroupKind::kExpertDp, 0, bytes, 1, member));
    };
    const double out = std::min(machine.node.pcie_bytes_per_s / 2, machine.node.socket_out_bytes_per_s / 6);
    const double in = std::min(machine.node.pcie_bytes_per_s / 2, machine.node.socket_in_bytes_per_s / 6);
    for (const int n : {3, 4, 6}) {
        const double sent_s = 2.0 * (n - 1) / n * bytes / stack.rank_bytes_per_s;
        stack.staging = models::Staging::kPipelined;
        EXPECT_NEAR(time_s(n, false), sent_s, 1e-3 * sent_s) << n;
        stack.staging = models::Staging::kWhole;
        const double expected_s = sent_s + bytes / out + bytes / in;
        EXPECT_NEAR(time_s(n, false), expected_s, 1e-3 * expected_s) << n;
    }
    for (const auto& [n, alone, adjacent] :
         {std::tuple(2, false, true), {12, false, true}, {6, false, false}, {4, true, true}}) {
        const double by_rule_s = time_s(n, alone, 0, adjacent);
        stack.node_paths.clear();
        EXPECT_DOUBLE_EQ(by_rule_s, time_s(n, alone, 0, adjacent)) << n;
        stack.node_paths = {{.max_ranks = 2}, {.every_card = true}, {.by_host = true}};
    }
}

// What came through the host is added up in its memory, which all ranks of a socket that add up at once share, whether
// they are unrolled together or one group by itself.
TEST(Collective, groups_through_the_host_add_up_in_its_memory_together) {
    models::Machine machine = adding_for_free(mesh_machine());
    machine.node.host_memory_bytes_per_s = 60e9;
    models::Stack stack = plain_stack();
    stack.node_paths = {{.by_host = true}};
    Network network(machine, stack, layout_of(machine, {.dp = 4, .ep = 3}));
    for (const int member : {kAllSiblings, 0, 2}) {
        const Transfer transfer = network.unroll_as({Algorithm::kDirect, 1}, schedule::CommKind::kAllReduce,
                                                    models::GroupKind::kEp, 0, 3e6, 1, member);
        ASSERT_EQ(transfer.phases.size(), 2U);
        EXPECT_NEAR(transfer.phases.front().reduction_s, 4 * 1e6 * 6 / 60e9, 1e-9) << member;
    }
}

TEST(Collective, host_memory_is_a_link_only_where_whole_buffers_are_staged) {
    const auto count = [](const models::Machine& machine, models::Staging staging) {
        models::Stack stack = plain_stack();
        stack.staging = staging;
        const Fabric fabric(machine, stack, layout_of(machine, {.dp = machine.node.tiles}));
        int found = 0;
        for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
            found += fabric.kind(link) == LinkKind::kHostMemory ? 1 : 0;
        }
        return found;
    };
    EXPECT_EQ(count(mesh_machine(), models::Staging::kWhole), 2);  // a socket each
    EXPECT_EQ(count(mesh_machine(), models::Staging::kPipelined), 0);
    EXPECT_EQ(count(switch_machine(), models::Staging::kWhole), 0);  // NICs on the device
}

// Two nodes of 8, one receiver with three times the mean. Direct and pairwise exchanges follow the shares; Bruck's
// rounds and those over two levels hand on what is another's, and last as long as for the busiest rank.
TEST(Collective, an_uneven_exchange_over_two_levels_or_by_bruck_is_scaled_by_the_heaviest_share) {
    const models::Machine machine = adding_for_free(switch_machine());
    std::vector<double> shares(16, 13.0 / 15);
    shares[5] = 3;
    const double heaviest = 3;
    Network even(machine, plain_stack(), layout_of(machine, {.ep = 16}));
    Network uneven(machine, plain_stack(), layout_of(machine, {.ep = 16}));
    uneven.set_routing_shares(shares);
    const auto time_s = [&](Network& network, AlgorithmChoice choice, double scale) {
        const Transfer transfer =
            network.unroll_as(choice, schedule::CommKind::kAllToAll, models::GroupKind::kEp, 0, 1e9, scale);
        EXPECT_EQ(transfer.choice, choice);
        return network.solo_time_s(transfer);
    };
    for (const AlgorithmChoice choice : {AlgorithmChoice{Algorithm::kDirect, 2}, AlgorithmChoice{Algorithm::kBruck, 2},
                                         AlgorithmChoice{Algorithm::kBruck, 1}}) {
        EXPECT_GE(time_s(uneven, choice, heaviest), 1.5 * time_s(even, choice, 1)) << to_string(choice.algorithm);
        EXPECT_DOUBLE_EQ(time_s(uneven, choice, heaviest), time_s(even, choice, heaviest));
    }
    for (const Algorithm algorithm : {Algorithm::kDirect, Algorithm::kPairwise}) {
        EXPECT_GT(time_s(uneven, {algorithm, 1}, heaviest), 1.5 * time_s(even, {algorithm, 1}, 1));
        EXPECT_DOUBLE_EQ(time_s(uneven, {algorithm, 1}, heaviest), time_s(uneven, {algorithm, 1}, 1));
    }
}

TEST(Collective, scale_stretches_the_bytes_on_the_wire_but_not_the_mean_sent) {
    const models::Machine machine = one_node(8);
    Network network(machine, plain_stack(Algorithm::kDirect), layout_of(machine, {.dp = 8}));
    const Transfer even = network.unroll(schedule::CommKind::kAllToAll, models::GroupKind::kWorld, 0, kBytes);
    const Transfer uneven = network.unroll(schedule::CommKind::kAllToAll, models::GroupKind::kWorld, 0, kBytes, 1.5);
    EXPECT_DOUBLE_EQ(uneven.phases.front().bytes, 1.5 * even.phases.front().bytes);
    EXPECT_DOUBLE_EQ(uneven.bytes_sent, even.bytes_sent);
}

// One message from every rank to its counterpart: no collective is started.
TEST(Collective, a_send_is_one_round_of_pairs) {
    const models::Machine machine = adding_for_free(mesh_machine());
    Network network(machine, plain_stack(), layout_of(machine, {.pp = 2, .dp = 1, .ep = 12}));
    const Transfer transfer = network.unroll(schedule::CommKind::kSend, models::GroupKind::kNextStage, 0, 1e6);
    ASSERT_EQ(transfer.phases.size(), 1U);
    EXPECT_DOUBLE_EQ(transfer.bytes_sent, 1e6);
    EXPECT_DOUBLE_EQ(transfer.phases.front().latency_s, 5e-6 + 3e-6 + 0.35e-6);
    EXPECT_TRUE(transfer.leaves_node);
}

}  // namespace
}  // namespace auspex::network
