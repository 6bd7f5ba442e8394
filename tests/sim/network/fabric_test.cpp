/// @file What holds on every fabric: routes by attachment, placements, names, limits.
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
