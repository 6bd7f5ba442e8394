/// @file Routes and capacities of dragonflies under adaptive, minimal and Valiant routing, by hand.
#include <gtest/gtest.h>

#include "fabric_fixture.hpp"
#include "network_fixture.hpp"

namespace auspex::network {
namespace {

using testing_network::capacity_by_kind;
using testing_network::layout_of;
using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::small_dragonfly;
using testing_network::weight_by_kind;
using testing_network::Weights;

// In a group: a pair of switches carries its link and 30 detours, (32 - 1) x 25 GB/s, as do the local links of both
// switches together, on which all of the flow counts, and those of the group 32 x 31 x 25 GB/s.
TEST(Fabric, adaptive_routing_bounds_a_pair_of_switches_by_its_link_and_all_detours) {
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
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kLocal], 31 * 25e9);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kLocalSpread], 31 * 25e9);
    EXPECT_DOUBLE_EQ(route.latency_s, 3e-6 + 2 * 0.35e-6);
}

// Between groups: C = 2 x 25 GB/s less other jobs' share; a pair and a group carry 165 C, the machine 166 x 165 C.
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
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kGlobal], 165 * direct);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kGlobalSpread], 165 * direct);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kGlobalPool], 166 * 165 * direct);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kRankTransport], 10e9);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kNic], 23e9 * 0.5);
    EXPECT_DOUBLE_EQ(capacities[LinkKind::kPcieCard], 50e9);
    EXPECT_DOUBLE_EQ(route.latency_s, 3e-6 + 4 * 0.35e-6);
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

// The direct links stay on the route, for what does not fit on them detours: over those of n - 2 others.
TEST(Fabric, adaptive_routing_leaves_a_pair_its_direct_links_and_all_detours) {
    const models::Machine machine = mesh_machine();
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 12 * 130}));
    int pairs = 0;
    for (const int to_rank : {24, 12 * 64}) {
        for (const Leg& leg : fabric.route(0, to_rank).legs) {
            const bool is_global = fabric.kind(leg.link) == LinkKind::kGlobal;
            if (is_global || fabric.kind(leg.link) == LinkKind::kLocal) {
                EXPECT_DOUBLE_EQ(fabric.capacity_bytes_per_s(leg.link), is_global ? 165 * 2 * 25e9 : 31 * 25e9);
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

// A group of one switch has nothing local: 2 switches by the direct link.
TEST(Fabric, groups_of_one_switch_have_no_local_links) {
    models::Machine machine = small_dragonfly({.groups = 3, .switches = 1, .routing = models::RoutingKind::kAdaptive});
    const Fabric adaptive(machine, plain_stack(), layout_of(machine, {.dp = 6}));
    EXPECT_EQ(weight_by_kind(adaptive, adaptive.route(0, 2)).count(LinkKind::kLocalSpread), 0U);
    EXPECT_EQ(weight_by_kind(adaptive, adaptive.route(0, 2)).count(LinkKind::kLocalPool), 0U);
    EXPECT_DOUBLE_EQ(adaptive.route(0, 2).latency_s, 2e-6 + 2 * 0.5e-6);
    machine.fabric.routing = models::RoutingKind::kMinimal;
    const Fabric minimal(machine, plain_stack(), layout_of(machine, {.dp = 6}));
    EXPECT_EQ(weight_by_kind(minimal, minimal.route(0, 2)),
              (Weights{{LinkKind::kRankTransport, 2}, {LinkKind::kNic, 2}, {LinkKind::kGlobal, 1}}));
    EXPECT_DOUBLE_EQ(minimal.route(0, 2).latency_s, 2e-6 + 2 * 0.5e-6);
}

}  // namespace
}  // namespace auspex::network
