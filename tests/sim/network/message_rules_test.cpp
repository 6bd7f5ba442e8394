/// @file What messages cost by kind of collective, nodes and size, and what of it runs beside bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "collective_closed_form.hpp"
#include "network_fixture.hpp"
#include "sim/network/collective/network.hpp"
#include "sim/network/collective/round_costs.hpp"

namespace auspex::network {
namespace {

using namespace testing_collectives;
using testing_network::layout_of;
using testing_network::plain_stack;
using testing_network::switch_machine;

constexpr auto kWorld = models::GroupKind::kWorld;

double time_s(const models::Stack& stack, schedule::CommKind comm, AlgorithmChoice choice, int ranks, double bytes) {
    const models::Machine machine = switch_machine();
    Network network(machine, stack, layout_of(machine, {.dp = ranks}));
    return network.solo_time_s(network.unroll_as(choice, comm, kWorld, 0, bytes));
}

models::Stack with_rule(const models::MessageRule& rule) {
    models::Stack stack = plain_stack();
    stack.messages = {rule};
    return stack;
}

// The first rule within whose limits a message is counts; what it leaves out is the transport's.
TEST(MessageRules, the_first_that_holds_for_kind_nodes_and_size_counts) {
    models::Stack stack = plain_stack();
    models::MessageRule few{.max_nodes = 4, .scale_out_message_s = 1e-6}, small{.max_bytes = 100};
    few.of = {false, false, true, false, false};
    few.of_others = false;
    small.scale_up_message_s = 7e-6;
    small.bytes_per_s = 1e9;
    stack.messages = {few, small};
    const auto of = [&](schedule::CommKind comm, int nodes, double bytes) {
        return message_software(stack, comm, nodes, bytes);
    };
    EXPECT_EQ(of(schedule::CommKind::kAllGather, 4, 10).between_nodes_s, 1e-6);
    EXPECT_EQ(of(schedule::CommKind::kAllGather, 4, 10).in_node_s, stack.scale_up_message_s);
    for (const auto& [comm, nodes] :
         {std::pair(schedule::CommKind::kAllGather, 5), std::pair(schedule::CommKind::kAllReduce, 4),
          std::pair(schedule::CommKind::kSend, 2)}) {
        const MessageSoftware software = of(comm, nodes, 100);
        EXPECT_EQ(software.between_nodes_s, stack.scale_out_message_s);
        EXPECT_EQ(software.in_node_s, 7e-6);
        EXPECT_EQ(software.bytes_per_s, 1e9);
        EXPECT_TRUE(software.in_node_is_ruled);
        EXPECT_EQ(of(comm, nodes, 101).in_node_s, stack.scale_up_message_s);
    }
}

// A rank of one of two nodes of 8 sends 8 messages to the other at once: above the eager size each but the first costs
// next_message, or as the first where there is none; smaller ones cost eager_message either way.
TEST(MessageRules, further_messages_cost_what_the_stack_says_of_them) {
    models::Stack stack = plain_stack();
    stack.scale_out_message_s = 10e-6;
    stack.eager_message_s = 1e-6;
    stack.eager_bytes = 1e3;
    models::Stack next = stack;
    next.next_message_s = 3e-6;
    const auto gain_s = [&](double bytes) {
        const auto of = [&](const models::Stack& one) {
            return time_s(one, schedule::CommKind::kAllToAll, {Algorithm::kDirect, 1}, 16, 16 * bytes);
        };
        return of(stack) - of(next);
    };
    EXPECT_NEAR(gain_s(1001), 7 * 7e-6, 1e-12);
    EXPECT_EQ(gain_s(1000), 0);
}

// A ring of R rounds: launch + max(R L, bytes / rate) where both run beside each other, launch + R L + bytes / rate
// where not.
TEST(MessageRules, a_pipelined_ring_takes_the_longer_of_latency_and_bytes) {
    const models::Stack plain = plain_stack(), piped = with_rule({.pipelined_rings = true});
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kMultiRing}) {
        const AlgorithmChoice choice{algorithm, 1};
        const auto kind = schedule::CommKind::kAllGather;
        const double latency_s = time_s(plain, kind, choice, 32, 0) - plain.collective_launch_s;
        int longer = 0;
        for (const double bytes : {1e3, 1e5, 1e6, 1e7, 1e9}) {
            const double flow_s = time_s(plain, kind, choice, 32, bytes) - latency_s - plain.collective_launch_s;
            EXPECT_NEAR(time_s(piped, kind, choice, 32, bytes), plain.collective_launch_s + std::max(latency_s, flow_s),
                        1e-12 + 1e-9 * flow_s);
            longer += flow_s > latency_s ? 1 : 0;
        }
        EXPECT_TRUE(longer > 0 && longer < 5);
    }
    // No ring: the same with the rule and without.
    const AlgorithmChoice doubling{Algorithm::kRecursiveDoubling, 1};
    EXPECT_EQ(time_s(piped, schedule::CommKind::kAllGather, doubling, 32, 1e6),
              time_s(plain, schedule::CommKind::kAllGather, doubling, 32, 1e6));
}

// k pieces over d levels: d + k - 1 rounds with a latency each, or d latencies where pieces follow one another.
TEST(MessageRules, a_pipelined_tree_pays_for_its_levels_and_not_for_its_pieces) {
    const int pieces = 8, ranks = 32;
    models::Stack plain = plain_stack(), piped = with_rule({.pipelined_trees = true});
    plain.tree_chunk_bytes = piped.tree_chunk_bytes = kBytes / 2 / pieces;
    const AlgorithmChoice tree{Algorithm::kDoubleBinaryTree, 1};
    const auto kind = schedule::CommKind::kBroadcast;
    const int levels = ceil_log2(ranks);
    const double round_s = (time_s(plain, kind, tree, ranks, 1) - plain.collective_launch_s) / levels;
    EXPECT_NEAR(time_s(plain, kind, tree, ranks, kBytes) - time_s(piped, kind, tree, ranks, kBytes),
                (pieces - 1) * round_s, 1e-3 * round_s);
    EXPECT_DOUBLE_EQ(time_s(piped, kind, tree, ranks, 1), time_s(plain, kind, tree, ranks, 1));
}

// Bytes pass the software beside the wires: each adds 1 / rate where messages leave the node.
TEST(MessageRules, bytes_between_nodes_take_as_long_as_the_software_needs_more) {
    models::MessageRule rule;
    rule.bytes_per_s = 2e9;
    const AlgorithmChoice ring{Algorithm::kRing, 1};
    const models::Stack plain = plain_stack(), slow = with_rule(rule);
    const auto more_s = [&](int ranks) {
        return time_s(slow, schedule::CommKind::kAllGather, ring, ranks, kBytes) -
               time_s(plain, schedule::CommKind::kAllGather, ring, ranks, kBytes);
    };
    const int tiles = switch_machine().node.tiles;
    EXPECT_NEAR(more_s(2 * tiles), (2 * tiles - 1) * kBytes / (2 * tiles) / 2e9, 1e-9);
    EXPECT_NEAR(more_s(tiles), 0, 1e-12);
}

// Inside a node a rank that sends to all its k - 1 neighbours pays for each; in a round whose other messages leave the
// node only what is longer than these and their bytes.
TEST(MessageRules, a_cost_in_the_node_is_paid_for_every_neighbour) {
    const int tiles = switch_machine().node.tiles;
    models::MessageRule rule;
    rule.scale_up_message_s = 20e-6;
    const models::Stack plain = plain_stack(), dear = with_rule(rule);
    const auto more_s = [&](Algorithm algorithm, int ranks, double bytes) {
        const auto kind = schedule::CommKind::kAllToAll;
        return time_s(dear, kind, {algorithm, 1}, ranks, bytes) - time_s(plain, kind, {algorithm, 1}, ranks, bytes);
    };
    EXPECT_NEAR(more_s(Algorithm::kDirect, tiles, 1), (tiles - 1) * 20e-6 - plain.scale_up_message_s, 1e-12);
    // All with all over two nodes: k - 1 neighbours, less what issuing the others takes anyway.
    const double others_s = std::max(0.0, 20e-6 - tiles * plain.scale_out_message_s);
    EXPECT_NEAR(more_s(Algorithm::kDirect, 2 * tiles, 1), (tiles - 2) * 20e-6 + others_s, 1e-9);
    // Of 2 k - 1 rounds all but that of distance k have neighbours in the node; long messages hide what they cost.
    EXPECT_NEAR(more_s(Algorithm::kPairwise, 2 * tiles, 1), (2 * tiles - 2) * (20e-6 - plain.scale_out_message_s),
                1e-8);
    EXPECT_NEAR(more_s(Algorithm::kPairwise, 2 * tiles, 1e9), 0, 1e-9);
}

}  // namespace
}  // namespace auspex::network
