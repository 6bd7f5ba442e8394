/// @file Rows of tokens by way of nodes: times and sums against alpha, beta and what a token reaches.
#include <gtest/gtest.h>

#include <algorithm>

#include "collective_closed_form.hpp"
#include "models/routing.hpp"
#include "network_fixture.hpp"
#include "sim/network/collective/network.hpp"

namespace auspex::network {
namespace {

using namespace testing_collectives;
using testing_network::layout_of;
using testing_network::plain_stack;

models::Machine adding_for_free(models::Machine machine) {
    machine.tile.hbm_bytes_per_s = 1e21;
    return machine;
}

/// What NICs take, a rank's transport takes.
models::Stack wire_stack() {
    models::Stack stack = plain_stack();
    stack.rank_bytes_per_s = 50e9;
    return stack;
}

/// Ranks 0 .. ranks - 1 are the ep group.
models::Layout ep_layout(const models::Machine& machine, int ranks) { return layout_of(machine, {.ep = ranks}); }

models::RoutingLoad load_of(const models::TokenSpread& spread) {
    models::RoutingLoad load;
    load.spread = spread;
    return load;
}

// Rows by node, both ways at once: t = launch + latency + max(NIC, node's port), b = B / n: a rank sends the tokens of
// each other node once, q b (nodes - 1), and hands on to each rank of its node what came for it, nodes b.
TEST(RowsToNodes, take_what_the_slower_of_nic_and_node_takes) {
    const models::Machine machine = adding_for_free(testing_network::rail_machine());
    for (const models::TokenSpread& spread :
         {models::TokenSpread{128, 8, 1, 1}, models::TokenSpread{128, 2, 1, 1}, models::TokenSpread{128, 8, 8, 2}}) {
        for (const int nodes : {2, 4}) {
            const int ranks = 8 * nodes;
            Network network(machine, wire_stack(), ep_layout(machine, ranks));
            network.set_routing(load_of(spread));
            const Transfer transfer =
                network.unroll(schedule::CommKind::kRowsToNodes, models::GroupKind::kEp, 0, kBytes);
            ASSERT_EQ(transfer.phases.size(), 1U);
            const double b = kBytes / ranks, q = models::rows_to_a_node(spread, nodes, ranks);
            const double nic_s = q * b * (nodes - 1) / 50e9, port_s = nodes * b * 7 / 400e9;
            EXPECT_NEAR(network.solo_time_s(transfer) - transfer.phases[0].latency_s, std::max(nic_s, port_s),
                        1e-9 * nic_s);
            EXPECT_NEAR(transfer.bytes_sent, q * b * (nodes - 1) + nodes * b * 7, 1e-9 * kBytes);
        }
    }
}

// All experts of a token on one rank: nothing is sent twice, and a node's rows are those of its ranks.
TEST(RowsToNodes, with_one_expert_a_token_move_between_nodes_what_an_all_to_all_does) {
    const models::Machine machine = adding_for_free(testing_network::rail_machine());
    Network network(machine, wire_stack(), ep_layout(machine, 16));
    network.set_routing(load_of({64, 1, 1, 1}));
    const Transfer rows = network.unroll(schedule::CommKind::kRowsToNodes, models::GroupKind::kEp, 0, kBytes);
    const Transfer all = network.unroll_as({models::CollectiveAlgorithm::kDirect, 1}, schedule::CommKind::kAllToAll,
                                           models::GroupKind::kEp, 0, kBytes);
    EXPECT_NEAR(rows.phases[0].bytes / network.solo_rate(rows.phases[0].pattern),
                all.phases[0].bytes / network.solo_rate(all.phases[0].pattern), 1e-9);
}

TEST(RowsToNodes, go_straight_to_ranks_in_a_node_and_where_a_node_has_one) {
    const models::Machine machine = adding_for_free(testing_network::rail_machine());
    const auto times_match = [&](const models::Layout& layout) {
        Network network(machine, wire_stack(), layout);
        network.set_routing(load_of({64, 4, 1, 1}));
        const Transfer rows = network.unroll(schedule::CommKind::kRowsToNodes, models::GroupKind::kEp, 0, kBytes);
        const Transfer all = network.unroll_as({models::CollectiveAlgorithm::kDirect, 1}, schedule::CommKind::kAllToAll,
                                               models::GroupKind::kEp, 0, kBytes);
        EXPECT_DOUBLE_EQ(network.solo_time_s(rows), network.solo_time_s(all));
    };
    times_match(ep_layout(machine, 8));
    models::Plan one_a_node;
    one_a_node.ep = 4, one_a_node.etp = one_a_node.tp = 8, one_a_node.dp = 1;
    times_match(make_layout(one_a_node, machine, 32));
}

// On the way back sums read the rows of all ranks, write those of a node, read these at home, and write one a token.
TEST(RowsFromNodes, add_up_in_nodes_and_at_home) {
    models::Machine machine = testing_network::rail_machine();
    machine.tile.hbm_bytes_per_s = 1e12;
    machine.tile.memory_efficiency = 1;
    const models::TokenSpread spread{64, 4, 1, 1};
    Network network(machine, wire_stack(), ep_layout(machine, 32));
    network.set_routing(load_of(spread));
    const Transfer back = network.unroll(schedule::CommKind::kRowsFromNodes, models::GroupKind::kEp, 0, kBytes);
    const double token_bytes = kBytes / mean_parts_reached(spread, 32);
    const double node_rows = mean_parts_reached(spread, 4) * token_bytes;
    EXPECT_NEAR(back.phases[0].reduction_s, (kBytes + 2 * node_rows + token_bytes) / 1e12, 1e-12);
}

}  // namespace
}  // namespace auspex::network
