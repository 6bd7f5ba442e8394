/// @file Routes and capacities of the fabric, by hand.
#include "sim/network/fabric/fabric.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "base/error.hpp"
#include "network_fixture.hpp"

namespace auspex::network {
namespace {

using testing_network::layout_of;
using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::rail_machine;
using testing_network::small_dragonfly;
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
    EXPECT_TRUE(pipelined.slots_to_host(7).empty());
    EXPECT_TRUE(pipelined.slots_from_host(7).empty());
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
    EXPECT_TRUE(direct.slots_to_host(3).empty());
    EXPECT_EQ(kinds_of(direct, direct.slots_out(3)), (Kinds{LinkKind::kRankTransport, LinkKind::kNic}));
}

// In a group: a pair of switches carries at most C / p = 25 GB/s / 0.25, and all of the flow counts on the local links
// of both switches together, (32 - 1) x 25 GB/s, and on those of the group, 32 x 31 x 25 GB/s.
TEST(Fabric, adaptive_routing_bounds_a_pair_of_switches_by_its_share_of_minimal_traffic) {
    const models::Machine machine = mesh_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 12 * 130}));
    const Route route = fabric.route(0, 12 * 2);
    auto weights = weight_by_kind(fabric, route);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kLocal], 1);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kLocalSpread], 2);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kLocalPool], 1);
    EXPECT_EQ(weights.count(LinkKind::kGlobalPool), 0U);
    auto capacities = capacity_by_kind(fabric, route);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kLocalPool], 32 * 31 * 25e9);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kLocal], 25e9 / 0.25);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kLocalSpread], 31 * 25e9);
    EXPECT_DOUBLE_EQ(route.latency_s, 3e-6 + (0.25 * 2 + 0.75 * 3) * 0.35e-6);
}

// Between groups: C = 2 x 25 GB/s less other jobs' share; the pair carries C / p, a group 165 C, the machine 166 x 165
// C.
TEST(Fabric, adaptive_routing_bounds_pairs_groups_and_the_machine) {
    models::Machine machine = mesh_machine();
    machine.fabric.background_load = 0.2;
    models::Stack stack = plain_stack();
    stack.scale_out_efficiency = 0.5;
    const Fabric fabric(machine, stack, layout_of(machine, {.dp = 12 * 130}));
    const Route route = fabric.route(0, 12 * 64);
    auto weights = weight_by_kind(fabric, route);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kGlobal], 1);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kGlobalSpread], 2);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kGlobalPool], 1);
    EXPECT_DOUBLE_EQ(weights[LinkKind::kLocalSpread], 2);
    auto capacities = capacity_by_kind(fabric, route);
    const double direct = 50e9 * 0.8 * 0.5;
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kGlobal], direct / 0.25);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kGlobalSpread], 165 * direct);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kGlobalPool], 166 * 165 * direct);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kRankTransport], 10e9);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kNic], 23e9 * 0.5);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kPcieCard], 50e9);
    EXPECT_DOUBLE_EQ(route.latency_s, 3e-6 + (0.25 * 4 + 0.75 * 6) * 0.35e-6);
    EXPECT_TRUE(route.leaves_group);
    // Pairs of the job's 3 groups of 32 switches whose detours load a pool: one a group, and one for all groups.
    ASSERT_EQ(fabric.detours().size(), 2U);
    const DetourLinks &in_groups = fabric.detours()[0], &between = fabric.detours()[1];
    EXPECT_EQ(in_groups.end - in_groups.first, 3U * 32 * 32);
    EXPECT_EQ(in_groups.links_of_pool, 32U * 32);
    EXPECT_DOUBLE_EQ(in_groups.direct_bytes_per_s, 25e9 * 0.5);
    EXPECT_EQ(between.end - between.first, 3U * 3);
    EXPECT_EQ(between.links_of_pool, 3U * 3);
    EXPECT_DOUBLE_EQ(between.direct_bytes_per_s, direct);
    for (const auto& [detour, pair, pool] : {std::tuple(in_groups, LinkKind::kLocal, LinkKind::kLocalPool),
                                             std::tuple(between, LinkKind::kGlobal, LinkKind::kGlobalPool)}) {
        EXPECT_EQ(fabric.kind(detour.first), pair);
        EXPECT_EQ(fabric.kind(detour.end - 1), pair);
        EXPECT_EQ(fabric.kind(detour.first_pool), pool);
    }
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

// The direct links stay on the route, for what does not fit on them detours; but nothing is kept from detouring.
TEST(Fabric, without_a_bias_adaptive_routing_bounds_no_pair) {
    models::Machine machine = mesh_machine();
    machine.fabric.minimal_bias = 0;
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 12 * 130}));
    int pairs = 0;
    for (const int to_rank : {24, 12 * 64}) {
        for (const Leg& leg : fabric.route(0, to_rank).legs) {
            if (fabric.kind(leg.link) == LinkKind::kLocal || fabric.kind(leg.link) == LinkKind::kGlobal) {
                EXPECT_GT(fabric.capacity_bytes_per_s(leg.link), 1e18);
                ++pairs;
            }
        }
    }
    EXPECT_EQ(pairs, 2);
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(0, 12 * 64))[LinkKind::kGlobalPool], 1);
}

// 165 groups x 2 links over 32 switches: link k to the group at distance d has port 2 (d - 1) + k and lies on switch
// floor(port x 32 / 330).
TEST(Fabric, minimal_routing_takes_each_global_link_of_the_pair_and_the_way_to_it) {
    models::Machine machine = mesh_machine();
    machine.fabric.routing = models::RoutingKind::kMinimal;
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 12 * 64 * 22}));
    EXPECT_TRUE(fabric.detours().empty());
    // Distance 21: ports 40 and 41, switches floor(40 x 32 / 330) = 3 and 3. Back: distance 145, ports 288 and 289,
    // switches 27 and 28.
    const Route route = fabric.route(0, 12 * 64 * 21);
    std::map<std::string, double> weights;
    for (const Leg& leg : route.legs) {
        if (fabric.kind(leg.link) == LinkKind::kLocal || fabric.kind(leg.link) == LinkKind::kGlobal) {
            weights[fabric.name(leg.link)] += leg.weight;
            EXPECT_DOUBLE_EQ(fabric.capacity_bytes_per_s(leg.link), 25e9);
        }
    }
    EXPECT_EQ(weights, (std::map<std::string, double>{{"group 0: switch 0 to 3", 1},
                                                      {"group 0 to group 21, link 0", 0.5},
                                                      {"group 0 to group 21, link 1", 0.5},
                                                      {"group 21: switch 27 to 0", 0.5},
                                                      {"group 21: switch 28 to 0", 0.5}}));
    EXPECT_DOUBLE_EQ(route.latency_s, 3e-6 + 4 * 0.35e-6);
    // Node 6 hangs on switch 3 itself: one switch less.
    EXPECT_DOUBLE_EQ(fabric.route(12 * 6, 12 * 64 * 21).latency_s, 3e-6 + 3 * 0.35e-6);
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(0, 24))[LinkKind::kLocal], 1);
}

// A pair of groups has the links to the 164 others, a pair of switches those to the 30 others; every flow takes two.
TEST(Fabric, valiant_routing_shuns_the_direct_link_and_crosses_the_machine_twice) {
    models::Machine machine = mesh_machine();
    machine.fabric.routing = models::RoutingKind::kValiant;
    const Fabric valiant(machine, plain_stack(), layout_of(machine, {.dp = 12 * 130}));
    auto weights = weight_by_kind(valiant, valiant.route(0, 12 * 64));
    EXPECT_EQ(weights[LinkKind::kGlobal], 1);
    EXPECT_DOUBLE_EQ(capacity_by_kind(valiant, valiant.route(0, 12 * 64))[LinkKind::kGlobal], 164 * 50e9);
    EXPECT_EQ(weights[LinkKind::kGlobalSpread], 2);
    EXPECT_EQ(weights[LinkKind::kGlobalPool], 2);
    weights = weight_by_kind(valiant, valiant.route(0, 24));
    EXPECT_EQ(weights[LinkKind::kLocal], 1);
    EXPECT_DOUBLE_EQ(capacity_by_kind(valiant, valiant.route(0, 24))[LinkKind::kLocal], 30 * 25e9);
    EXPECT_EQ(weights[LinkKind::kLocalSpread], 2);
    EXPECT_EQ(weights[LinkKind::kLocalPool], 2);
    EXPECT_TRUE(valiant.detours().empty());  // nothing but detours: they are on the routes
    EXPECT_DOUBLE_EQ(valiant.route(0, 24).latency_s, 3e-6 + 3 * 0.35e-6);
    EXPECT_DOUBLE_EQ(valiant.route(0, 12 * 64).latency_s, 3e-6 + 6 * 0.35e-6);
}

// A group of one switch has nothing local: 2 switches by the direct link, 3 by way of a third group.
TEST(Fabric, groups_of_one_switch_have_no_local_links) {
    models::Machine machine = small_dragonfly({.groups = 3, .switches = 1, .routing = models::RoutingKind::kAdaptive});
    machine.fabric.minimal_bias = 0.25;
    const Fabric adaptive(machine, plain_stack(), layout_of(machine, {.dp = 6}));
    EXPECT_EQ(weight_by_kind(adaptive, adaptive.route(0, 2)).count(LinkKind::kLocalSpread), 0U);
    EXPECT_EQ(weight_by_kind(adaptive, adaptive.route(0, 2)).count(LinkKind::kLocalPool), 0U);
    EXPECT_DOUBLE_EQ(adaptive.route(0, 2).latency_s, 2e-6 + (0.25 * 2 + 0.75 * 3) * 0.5e-6);
    machine.fabric.routing = models::RoutingKind::kMinimal;
    const Fabric minimal(machine, plain_stack(), layout_of(machine, {.dp = 6}));
    EXPECT_EQ(weight_by_kind(minimal, minimal.route(0, 2)),
              (Weights{{LinkKind::kRankTransport, 2}, {LinkKind::kNic, 2}, {LinkKind::kGlobal, 1}}));
    EXPECT_DOUBLE_EQ(minimal.route(0, 2).latency_s, 2e-6 + 2 * 0.5e-6);
}

// Leaves of 4 nodes x 8 NICs x 50 GB/s x 0.5 = 800 GB/s: 16 uplinks of 50 GB/s. A flow to NIC r of node n goes up by
// uplink (8 n + r) mod 16 of its leaf and comes down by that of the other.
TEST(Fabric, minimal_routing_on_a_tree_pins_a_flow_by_the_number_of_the_nic_it_goes_to) {
    models::Machine machine = switch_machine();
    machine.fabric.routing = models::RoutingKind::kMinimal;
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 80}));
    EXPECT_FALSE(fabric.depends_on_attachment_only());
    for (int to = 32; to < 80; ++to) {
        std::vector<std::string> uplinks;
        for (const Leg& leg : fabric.route(5, to).legs) {
            if (fabric.kind(leg.link) == LinkKind::kLeafUplink) {
                EXPECT_DOUBLE_EQ(fabric.capacity_bytes_per_s(leg.link), 50e9);
                uplinks.push_back(fabric.name(leg.link));
            }
        }
        const std::string number = ", uplink " + std::to_string(to % 16);
        EXPECT_EQ(uplinks, (std::vector<std::string>{"leaf 0" + number + " up",
                                                     "leaf " + std::to_string(to / 32) + number + " down"}));
    }
}

// Pods of 2 leaves: 2 x 800 GB/s x 0.25 = 400 GB/s to the cores.
TEST(Fabric, a_third_level_bounds_what_leaves_a_pod) {
    models::Machine machine = switch_machine();
    machine.fabric.levels = 3;
    machine.fabric.leaves_per_pod = 2;
    machine.fabric.pod_taper = 0.25;
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 32 * 4}));
    EXPECT_EQ(weight_by_kind(fabric, fabric.route(0, 32)).count(LinkKind::kPodUplink), 0U);
    EXPECT_DOUBLE_EQ(fabric.route(0, 32).latency_s, 2e-6 + 3 * 0.5e-6);
    const Route far = fabric.route(0, 64);
    EXPECT_EQ(weight_by_kind(fabric, far)[LinkKind::kPodUplink], 2);
    EXPECT_EQ(weight_by_kind(fabric, far)[LinkKind::kLeafUplink], 2);
    EXPECT_DOUBLE_EQ(capacity_by_kind(fabric, far)[LinkKind::kPodUplink], 400e9);
    EXPECT_DOUBLE_EQ(far.latency_s, 2e-6 + 5 * 0.5e-6);
    EXPECT_TRUE(fabric.depends_on_attachment_only());
}

// A leaf of 32 NICs has 16 uplinks with half of the NICs' links, whatever part of these links NICs sustain: 46 of 50
// GB/s; 24 GB/s is more like half of a link (a split port), 96 GB/s like two.
TEST(Fabric, uplinks_are_counted_by_the_links_of_the_nics_and_not_by_what_nics_sustain) {
    models::Machine machine = switch_machine();
    for (const auto& [nic, uplinks] : std::map<double, double>{{46e9, 16}, {50e9, 16}, {24e9, 8}, {96e9, 32}}) {
        machine.node.nic_bytes_per_s = nic;
        const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 64}));
        EXPECT_DOUBLE_EQ(capacity_by_kind(fabric, fabric.route(0, 32))[LinkKind::kLeafUplink], uplinks * 50e9) << nic;
    }
}

// Units of 4 nodes; tile t hangs on NIC t. The leaf of a rail carries 4 x 50 GB/s x 0.5 up.
TEST(Fabric, a_rail_of_a_unit_is_one_switch_and_another_rail_is_reached_by_a_spine) {
    const models::Machine machine = rail_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 80}));
    const Route same_rail = fabric.route(3, 8 + 3);
    EXPECT_EQ(weight_by_kind(fabric, same_rail), (Weights{{LinkKind::kRankTransport, 2}, {LinkKind::kNic, 2}}));
    EXPECT_DOUBLE_EQ(same_rail.latency_s, 2e-6 + 0.5e-6);
    const Route other_rail = fabric.route(3, 8 + 4);
    EXPECT_EQ(weight_by_kind(fabric, other_rail)[LinkKind::kLeafUplink], 2);
    EXPECT_DOUBLE_EQ(other_rail.latency_s, 2e-6 + 3 * 0.5e-6);
    EXPECT_FALSE(other_rail.leaves_group);
    const Route other_unit = fabric.route(3, 32 + 3);
    EXPECT_EQ(weight_by_kind(fabric, other_unit)[LinkKind::kLeafUplink], 2);
    EXPECT_DOUBLE_EQ(capacity_by_kind(fabric, other_unit)[LinkKind::kLeafUplink], 100e9);
    EXPECT_TRUE(other_unit.leaves_group);
    EXPECT_EQ(fabric.block(3), 0);
    EXPECT_EQ(fabric.block(4), 1);
    EXPECT_EQ(fabric.attachment(3, 5), 5);
    EXPECT_EQ(fabric.attachment(4, 5), 13);
    EXPECT_EQ(fabric.nodes(), 10);
}

TEST(Fabric, crossings_depend_on_the_two_attachments_alone_where_that_is_promised) {
    for (const models::Machine& machine : {mesh_machine(), switch_machine(), rail_machine(),
                                           small_dragonfly({.groups = 5, .nodes_per_switch = 3, .global_links = 2})}) {
        const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 15 * machine.node.tiles}));
        ASSERT_TRUE(fabric.depends_on_attachment_only());
        std::map<std::pair<int, int>, std::vector<std::pair<std::uint32_t, double>>> known;
        InterNodeRoute route;
        for (int from = 0; from < 15 * machine.node.tiles; from += 3) {
            for (int to = 0; to < 15 * machine.node.tiles; to += 7) {
                const int m = from / machine.node.tiles, n = to / machine.node.tiles;
                if (m == n) {
                    continue;
                }
                const int s = from % machine.node.tiles, t = to % machine.node.tiles;
                fabric.route_between_nodes(m, s, n, t, route);
                std::vector<std::pair<std::uint32_t, double>> legs{{0, route.latency_s}};
                for (const Leg& leg : route.legs) {
                    legs.emplace_back(leg.link, leg.weight);
                }
                const auto [at, is_new] = known.try_emplace({fabric.attachment(m, s), fabric.attachment(n, t)}, legs);
                EXPECT_TRUE(is_new || at->second == legs);
            }
        }
    }
}

TEST(Fabric, the_job_lies_where_its_placement_says) {
    const models::Machine machine = mesh_machine();
    const models::Layout scattered = layout_of(machine, {.dp = 24, .placement = models::PlacementKind::kScattered});
    const Fabric fabric(machine, plain_stack(), scattered);
    EXPECT_TRUE(fabric.route(0, 12).leaves_group);
    bool found = false;
    for (const Leg& leg : fabric.route(0, 12).legs) {
        found = found || fabric.name(leg.link) == "group 0 to group 1";
    }
    EXPECT_TRUE(found);
}

TEST(Fabric, a_link_has_one_name_and_every_name_one_link) {
    const models::Machine machine = mesh_machine();
    models::Machine minimal = machine, valiant = machine, pinned = switch_machine(), pods = rail_machine();
    minimal.fabric.routing = pinned.fabric.routing = pods.fabric.routing = models::RoutingKind::kMinimal;
    valiant.fabric.routing = models::RoutingKind::kValiant;
    pods.fabric.levels = 3;
    for (const models::Machine& some : {machine, minimal, valiant, switch_machine(), pinned, pods}) {
        const Fabric fabric(some, plain_stack(), layout_of(some, {.dp = some.node.tiles * 66}));
        std::map<std::string, std::uint32_t> links;
        for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
            EXPECT_TRUE(links.emplace(fabric.name(link), link).second) << fabric.name(link);
        }
    }
}

TEST(Fabric, too_many_links_are_refused) {
    models::Machine machine = mesh_machine();
    machine.fabric.switches_per_group = 20'000;
    EXPECT_THROW(Fabric(machine, plain_stack(), layout_of(machine, {.dp = 12})), InputError);
}

TEST(Fabric, all_of_a_large_machine_is_built_quickly) {
    const models::Machine machine = mesh_machine();
    const models::Layout layout = layout_of(machine, {.dp = 120'960});
    const auto start = std::chrono::steady_clock::now();
    const Fabric fabric(machine, plain_stack(), layout);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_GT(fabric.link_count(), 120'960U * 8);
    EXPECT_LT(elapsed.count(), 0.5);  // milliseconds when optimised; wide for sanitizers and busy machines
}

}  // namespace
}  // namespace auspex::network
