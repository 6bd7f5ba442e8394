/// @file Routes and capacities of fat trees and rails, by hand.
#include <gtest/gtest.h>

#include "fabric_fixture.hpp"
#include "network_fixture.hpp"

namespace auspex::network {
namespace {

using testing_network::capacity_by_kind;
using testing_network::layout_of;
using testing_network::plain_stack;
using testing_network::rail_machine;
using testing_network::switch_machine;
using testing_network::weight_by_kind;
using testing_network::Weights;

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

}  // namespace
}  // namespace auspex::network
