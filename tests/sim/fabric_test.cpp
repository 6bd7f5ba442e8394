/// @file Routes and capacities of the fabric, by hand.
#include "sim/fabric.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "base/error.hpp"
#include "network_fixture.hpp"

namespace auspex {
namespace {

using testing_network::layout_of;
using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::switch_machine;

std::map<LinkKind, double> weight_by_kind(const Fabric& fabric, const Route& route) {
    std::map<LinkKind, double> weights;
    for (const Leg& leg : route.legs) {
        weights[fabric.kind(leg.link)] += leg.weight;
    }
    return weights;
}

std::map<LinkKind, double> capacity_by_kind(const Fabric& fabric, const Route& route) {
    std::map<LinkKind, double> capacities;
    for (const Leg& leg : route.legs) {
        capacities[fabric.kind(leg.link)] = fabric.capacity_bytes_per_s(leg.link);
    }
    return capacities;
}

using Weights = std::map<LinkKind, double>;

// Node by node: 12 tiles each, 2 nodes a switch, 64 nodes a group. Rank 0 is tile 0 of node 0.
TEST(Fabric, a_rank_needs_no_link_to_itself) {
    const Machine machine = mesh_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 12}));
    EXPECT_TRUE(fabric.route(3, 3).legs.empty());
    EXPECT_EQ(fabric.route(3, 3).latency_s, 0);
}

TEST(Fabric, tiles_of_a_card_use_the_pair_and_tiles_of_two_cards_one_mesh_link) {
    const Machine machine = mesh_machine();
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

TEST(Fabric, host_attached_nics_are_reached_over_card_and_socket) {
    const Machine machine = mesh_machine();
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
    const Machine machine = switch_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 40}));
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(0, 7)), (Weights{{LinkKind::kSwitchPort, 2}}));
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(0, 8)),
              (Weights{{LinkKind::kRankTransport, 2}, {LinkKind::kNic, 2}}));
    // Node 4 is on the second leaf. Uplink: 4 nodes x 8 NICs x 50 GB/s x taper 0.5 = 800 GB/s.
    const Route far = fabric.route(0, 32);
    EXPECT_EQ(weight_by_kind(fabric, far),
              (Weights{{LinkKind::kRankTransport, 2}, {LinkKind::kNic, 2}, {LinkKind::kLeafUplink, 2}}));
    EXPECT_DOUBLE_EQ(capacity_by_kind(fabric, far)[LinkKind::kLeafUplink], 800e9);
    EXPECT_DOUBLE_EQ(far.latency_s, 2e-6 + 3 * 0.5e-6);
}

TEST(Fabric, each_tile_uses_the_nic_of_its_share_and_its_own_socket) {
    const Machine machine = mesh_machine();
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
    Machine machine = mesh_machine();
    machine.node.nics = 1;
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 24}));
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(11, 23))[LinkKind::kNic], 2);
}

// Shares in a group: minimal_bias b on the direct link, and all of the flow on the local links of both switches
// together, (32 - 1) x 25 GB/s, of which the direct one is part.
TEST(Fabric, adaptive_routing_splits_a_flow_in_its_group) {
    const Machine machine = mesh_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 12 * 130}));
    const Route route = fabric.route(0, 12 * 2);
    auto weights = weight_by_kind(fabric, route);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kLocal], 0.25);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kLocalSpread], 2);
    auto capacities = capacity_by_kind(fabric, route);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kLocal], 25e9);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kLocalSpread], 31 * 25e9);
    EXPECT_DOUBLE_EQ(route.latency_s, 3e-6 + (0.25 * 2 + 0.75 * 3) * 0.35e-6);
}

// Between groups: b on the bundle of 2 x 25 GB/s, all of it on the 165 bundles of both groups together, less what other
// jobs use.
TEST(Fabric, adaptive_routing_splits_a_flow_between_groups) {
    Machine machine = mesh_machine();
    machine.fabric.background_load = 0.2;
    Stack stack = plain_stack();
    stack.scale_out_efficiency = 0.5;
    const Fabric fabric(machine, stack, layout_of(machine, {.dp = 12 * 130}));
    const Route route = fabric.route(0, 12 * 64);
    auto weights = weight_by_kind(fabric, route);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kGlobal], 0.25);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kGlobalSpread], 2);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kLocalSpread], 2);
    auto capacities = capacity_by_kind(fabric, route);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kGlobal], 50e9 * 0.8 * 0.5);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kGlobalSpread], 165 * 50e9 * 0.8 * 0.5);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kRankTransport], 10e9);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kNic], 23e9 * 0.5);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kPcieCard], 50e9);
    EXPECT_TRUE(route.leaves_group);
}

// Minimal: the whole flow on the direct link. Valiant: nothing of it. Both: the whole flow on the links of its switch
// or group together.
TEST(Fabric, minimal_routing_keeps_to_the_direct_link_and_valiant_shuns_it) {
    Machine machine = mesh_machine();
    machine.fabric.routing = RoutingKind::kMinimal;
    const Layout layout = layout_of(machine, {.dp = 12 * 130});
    const Fabric minimal(machine, plain_stack(), layout);
    EXPECT_DOUBLE_EQ(weight_by_kind(minimal, minimal.route(0, 24))[LinkKind::kLocal], 1);
    EXPECT_DOUBLE_EQ(weight_by_kind(minimal, minimal.route(0, 12 * 64))[LinkKind::kGlobal], 1);
    EXPECT_DOUBLE_EQ(weight_by_kind(minimal, minimal.route(0, 12 * 64))[LinkKind::kGlobalSpread], 2);
    machine.fabric.routing = RoutingKind::kValiant;
    const Fabric valiant(machine, plain_stack(), layout);
    EXPECT_EQ(weight_by_kind(valiant, valiant.route(0, 24)).count(LinkKind::kLocal), 0U);
    EXPECT_EQ(weight_by_kind(valiant, valiant.route(0, 12 * 64)).count(LinkKind::kGlobal), 0U);
}

TEST(Fabric, the_job_lies_where_its_placement_says) {
    const Machine machine = mesh_machine();
    const Layout scattered = layout_of(machine, {.dp = 24, .placement = PlacementKind::kScattered});
    const Fabric fabric(machine, plain_stack(), scattered);
    EXPECT_TRUE(fabric.route(0, 12).leaves_group);
    bool found = false;
    for (const Leg& leg : fabric.route(0, 12).legs) {
        found = found || fabric.name(leg.link) == "group 0 to group 1";
    }
    EXPECT_TRUE(found);
}

TEST(Fabric, a_link_has_one_name_and_every_name_one_link) {
    const Machine machine = mesh_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 12 * 66}));
    std::map<std::string, std::uint32_t> links;
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
        EXPECT_TRUE(links.emplace(fabric.name(link), link).second) << fabric.name(link);
    }
}

TEST(Fabric, too_many_links_are_refused) {
    Machine machine = mesh_machine();
    machine.fabric.switches_per_group = 20'000;
    EXPECT_THROW(Fabric(machine, plain_stack(), layout_of(machine, {.dp = 12})), InputError);
}

TEST(Fabric, all_of_a_large_machine_is_built_quickly) {
    const Machine machine = mesh_machine();
    const Layout layout = layout_of(machine, {.dp = 120'960});
    const auto start = std::chrono::steady_clock::now();
    const Fabric fabric(machine, plain_stack(), layout);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_GT(fabric.link_count(), 120'960U * 8);
    EXPECT_LT(elapsed.count(), 0.5);  // milliseconds when optimised; wide for sanitizers and busy machines
}

}  // namespace
}  // namespace auspex
