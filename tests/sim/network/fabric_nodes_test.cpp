/// @file Routes inside a node, and from tiles to NICs, by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "fabric_fixture.hpp"
#include "network_fixture.hpp"

namespace auspex::network {
namespace {

using testing_network::capacity_by_kind;
using testing_network::layout_of;
using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::switch_machine;
using testing_network::weight_by_kind;
using testing_network::Weights;

// Node by node: 12 tiles each, 2 nodes a switch, 64 nodes a group. Rank 0 is tile 0 of node 0.
TEST(Fabric, a_rank_needs_no_link_to_itself) {
    const models::Machine machine = mesh_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 12}));
    EXPECT_TRUE(fabric.route(3, 3).legs.empty());
    EXPECT_EQ(fabric.route(3, 3).latency_s, 0);
}

TEST(Fabric, tiles_of_a_card_use_the_pair_and_tiles_of_two_cards_one_mesh_link) {
    const models::Machine machine = mesh_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 12}));
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(0, 1)), (Weights{{LinkKind::kPair, 1}}));
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(0, 5)), (Weights{{LinkKind::kMesh, 1}}));
    EXPECT_EQ(fabric.route(0, 5).latency_s, 2e-6);
    // The four tile pairs of two cards share a link; each direction has its own.
    EXPECT_EQ(fabric.route(0, 4).legs[0].link, fabric.route(1, 5).legs[0].link);
    EXPECT_NE(fabric.route(0, 4).legs[0].link, fabric.route(4, 0).legs[0].link);
    EXPECT_NE(fabric.route(0, 1).legs[0].link, fabric.route(1, 0).legs[0].link);
    EXPECT_EQ(fabric.name(fabric.route(0, 5).legs[0].link), "node 0: mesh, card 0 to card 2");
}

// One direction may have all that a link carries one way; both together are bound once more, by a link that they share.
TEST(Fabric, both_directions_of_a_link_share_what_they_carry_together) {
    models::Machine machine = mesh_machine();
    machine.node.pair_both_bytes_per_s = 269e9;
    machine.node.mesh_both_bytes_per_s = 23e9;
    machine.node.pcie_both_bytes_per_s = 76e9;
    models::Stack stack = plain_stack();
    stack.scale_up_efficiency = 0.5;
    const Fabric fabric(machine, stack, layout_of(machine, {.dp = 24}));
    const auto shared = [&](int from, int to, LinkKind kind) {
        const Route there = fabric.route(from, to), back = fabric.route(to, from);
        std::vector<std::uint32_t> both;
        for (const Leg& leg : there.legs) {
            const bool returns =
                std::any_of(back.legs.begin(), back.legs.end(), [&](const Leg& b) { return b.link == leg.link; });
            EXPECT_EQ(returns, is_both_ways(fabric.kind(leg.link))) << fabric.name(leg.link);
            if (fabric.kind(leg.link) == kind) {
                both.push_back(leg.link);
            }
        }
        return both;
    };
    const auto pair = shared(0, 1, LinkKind::kPairBothWays), mesh = shared(0, 4, LinkKind::kMeshBothWays),
               other_mesh = shared(1, 5, LinkKind::kMeshBothWays), pcie = shared(0, 12, LinkKind::kPcieBothWays);
    ASSERT_EQ(pair.size(), 1U);
    ASSERT_EQ(mesh.size(), 1U);
    ASSERT_EQ(other_mesh.size(), 1U);
    ASSERT_EQ(pcie.size(), 2U);         // of the cards of both nodes
    EXPECT_NE(mesh[0], other_mesh[0]);  // of two tiles each, though one link joins the cards
    EXPECT_DOUBLE_EQ(fabric.capacity_bytes_per_s(pair[0]), 269e9 / 2);
    EXPECT_DOUBLE_EQ(fabric.capacity_bytes_per_s(mesh[0]), 23e9 / 2);
    EXPECT_DOUBLE_EQ(fabric.capacity_bytes_per_s(pcie[0]), 76e9 / 2);
}

TEST(Fabric, host_attached_nics_are_reached_over_card_and_socket) {
    const models::Machine machine = mesh_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 24}));
    // Nodes 0 and 1 hang on one switch: nothing between the NICs.
    const Route route = fabric.route(0, 12);
    EXPECT_EQ(
        weight_by_kind(fabric, route),
        (Weights{
            {LinkKind::kRankTransport, 2}, {LinkKind::kPcieCard, 2}, {LinkKind::kPcieSocket, 2}, {LinkKind::kNic, 2}}));
    EXPECT_TRUE(route.leaves_node);
    EXPECT_FALSE(route.leaves_group);
    EXPECT_DOUBLE_EQ(route.latency_s, 3e-6 + 0.35e-6);
}

TEST(Fabric, device_attached_nics_need_no_host) {
    const models::Machine machine = switch_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 40}));
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(0, 7)), (Weights{{LinkKind::kSwitchPort, 2}}));
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(0, 8)),
              (Weights{{LinkKind::kRankTransport, 2}, {LinkKind::kNic, 2}}));
    // Node 4 is on the second leaf. Uplinks: 4 nodes x 8 NICs x 50 GB/s x taper 0.5 = 800 GB/s.
    const Route far = fabric.route(0, 32);
    EXPECT_EQ(weight_by_kind(fabric, far),
              (Weights{{LinkKind::kRankTransport, 2}, {LinkKind::kNic, 2}, {LinkKind::kLeafUplink, 2}}));
    EXPECT_DOUBLE_EQ(capacity_by_kind(fabric, far)[LinkKind::kLeafUplink], 800e9);
    EXPECT_DOUBLE_EQ(far.latency_s, 2e-6 + 3 * 0.5e-6);
}

TEST(Fabric, each_tile_uses_the_nic_of_its_share_and_its_own_socket) {
    const models::Machine machine = mesh_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 24}));
    for (int tile = 0; tile < 12; ++tile) {
        std::string legs;
        for (const Leg& leg : fabric.route(tile, 12).legs) {
            legs += fabric.name(leg.link) + '\n';
        }
        // NIC floor(tile * 8 / 12); tiles 0-5 and NICs 0-3 belong to socket 0.
        EXPECT_NE(legs.find("node 0: NIC, NIC " + std::to_string(tile * 8 / 12) + " to wire"), std::string::npos)
            << legs;
        EXPECT_NE(legs.find("node 0: PCIe socket, socket " + std::to_string(tile / 6) + " to NICs"), std::string::npos)
            << legs;
    }
}

TEST(Fabric, a_tile_whose_nic_is_on_the_other_socket_still_reaches_it) {
    // One NIC at each end.
    models::Machine machine = mesh_machine();
    machine.node.nics = 1;
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 24}));
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(11, 23))[LinkKind::kNic], 2);
}

// One link for each pair of tiles of the same number: tile 0 of card 0 reaches tile 1 of card 2 over tile 0 of card 2.
TEST(Fabric, planes_of_a_mesh_join_tiles_of_the_same_number_and_the_card_does_the_rest) {
    models::Machine machine = mesh_machine();
    machine.node.mesh_links = 2;
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 12}));
    const auto names = [&](int from, int to) {
        std::string text;
        for (const Leg& leg : fabric.route(from, to).legs) {
            text += fabric.name(leg.link) + "; ";
        }
        return text;
    };
    EXPECT_EQ(names(0, 1), "node 0: pair, tile 0 to tile 1; ");
    EXPECT_EQ(names(0, 4), "node 0: mesh, tile 0 to tile 4; ");
    EXPECT_EQ(names(1, 5), "node 0: mesh, tile 1 to tile 5; ");
    EXPECT_EQ(names(0, 5), "node 0: mesh, tile 0 to tile 4; node 0: pair, tile 4 to tile 5; ");
    EXPECT_EQ(names(5, 0), "node 0: mesh, tile 5 to tile 1; node 0: pair, tile 1 to tile 0; ");
    EXPECT_EQ(fabric.capacity_bytes_per_s(fabric.route(0, 5).legs[0].link), 31e9);
}

TEST(Fabric, a_socket_sends_and_receives_at_its_own_rates) {
    models::Machine machine = mesh_machine();
    machine.node.socket_out_bytes_per_s = 120e9;
    machine.node.socket_in_bytes_per_s = 160e9;
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 24}));
    std::vector<double> rates;
    for (const Leg& leg : fabric.route(0, 12).legs) {
        if (fabric.kind(leg.link) == LinkKind::kPcieSocket) {
            rates.push_back(fabric.capacity_bytes_per_s(leg.link));
        }
    }
    EXPECT_EQ(rates, (std::vector<double>{120e9, 160e9}));
}

// By default tile t of 12 uses NIC floor(8 t / 12); a machine may choose another, on the other socket, too.
TEST(Fabric, a_machine_may_choose_the_nic_of_each_tile) {
    models::Machine machine = mesh_machine();
    const auto nic_of_rank_0 = [&] {
        const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 24}));
        for (const Leg& leg : fabric.route(0, 12).legs) {
            if (fabric.kind(leg.link) == LinkKind::kNic) {
                return fabric.name(leg.link);
            }
        }
        return std::string();
    };
    EXPECT_NE(nic_of_rank_0().find("NIC 0 to wire"), std::string::npos) << nic_of_rank_0();
    machine.node.nic_of_tile.assign(12, 7);
    EXPECT_NE(nic_of_rank_0().find("NIC 7 to wire"), std::string::npos) << nic_of_rank_0();
}

std::vector<LinkKind> kinds_of(const Fabric& fabric, std::span<const std::uint32_t> slots) {
    std::vector<LinkKind> kinds;
    for (const std::uint32_t slot : slots) {
        kinds.push_back(fabric.kind(slot));
    }
    return kinds;
}

TEST(Fabric, whole_buffers_are_copied_to_the_host_and_messages_run_between_hosts) {
    using Kinds = std::vector<LinkKind>;
    const models::Machine machine = mesh_machine();
    models::Stack stack = plain_stack();
    const Fabric pipelined(machine, stack, layout_of(machine, {.dp = 24}));
    EXPECT_EQ(kinds_of(pipelined, pipelined.slots_out(7)).back(), LinkKind::kNic);
    stack.staging = models::Staging::kWhole;
    const Fabric whole(machine, stack, layout_of(machine, {.dp = 24}));
    EXPECT_EQ(kinds_of(whole, whole.slots_to_host(7)), (Kinds{LinkKind::kPcieCard, LinkKind::kPcieSocket}));
    EXPECT_EQ(kinds_of(whole, whole.slots_from_host(7)), (Kinds{LinkKind::kPcieSocket, LinkKind::kPcieCard}));
    EXPECT_EQ(kinds_of(whole, whole.slots_out(7)), (Kinds{LinkKind::kRankTransport, LinkKind::kNic}));
    EXPECT_EQ(kinds_of(whole, whole.slots_in(7)), (Kinds{LinkKind::kNic, LinkKind::kRankTransport}));
    EXPECT_EQ(whole.name(whole.slots_to_host(7)[0]), "node 0: PCIe card, card 3 to socket 1");
    // What leaves the card and what comes back are two directions.
    EXPECT_NE(whole.slots_to_host(7)[0], whole.slots_from_host(7)[1]);
    const models::Machine device = switch_machine();
    const Fabric direct(device, stack, layout_of(device, {.dp = 16}));
    EXPECT_EQ(kinds_of(direct, direct.slots_to_host(3)), (Kinds{LinkKind::kPcieCard, LinkKind::kPcieSocket}));
    EXPECT_EQ(kinds_of(direct, direct.slots_out(3)), (Kinds{LinkKind::kRankTransport, LinkKind::kNic}));
}

}  // namespace
}  // namespace auspex::network
