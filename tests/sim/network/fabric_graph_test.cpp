/// @file The whole machine's graph: its totals by hand, and the routes of Fabric as its shortest paths.
#include "sim/network/fabric/fabric_graph.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

#include "base/error.hpp"
#include "base/json.hpp"
#include "network_fixture.hpp"
#include "sim/network/fabric/fabric_totals.hpp"

namespace auspex::network {
namespace {

using testing_network::layout_of;
using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::rail_machine;
using testing_network::small_dragonfly;
using testing_network::switch_machine;

models::Layout all_of(const models::Machine& machine) {
    return layout_of(machine, {.dp = machine.fabric.max_nodes * machine.node.tiles});
}

models::Machine load(const std::string& name) {
    return models::load_machine(JsonDocument::load("machines/" + name + ".json"));
}

std::uint64_t links(const FabricTotals& totals, LinkKind kind) { return totals.links[static_cast<std::size_t>(kind)]; }

/// The switch that a node's NIC `nic` hangs on.
std::uint32_t switch_of(const FabricGraph& graph, int node, int nic) {
    std::uint32_t found = kNoLink;
    graph.for_each_link([&](const GraphLink& link) {
        const GraphVertex& from = graph.vertex(link.from);
        if (from.kind == VertexKind::kNic && from.node == node && from.index == nic && link.to < graph.switch_count()) {
            found = link.to;
        }
    });
    return found;
}

struct Taken {
    LinkKind kind;
    double bytes_per_s;
    bool operator==(const Taken&) const = default;
};
void PrintTo(const Taken& taken, std::ostream* out) {
    *out << to_string(taken.kind) << ' ' << taken.bytes_per_s * 1e-9 << " GB/s";
}

/// Legs of a route as links: a rank's transport is no link of the machine, and Fabric counts parallel local links as
/// one.
std::vector<Taken> links_of(const Fabric& fabric, const Route& route, int local_links) {
    std::vector<Taken> taken;
    for (const Leg& leg : route.legs) {
        const LinkKind kind = fabric.kind(leg.link);
        if (kind != LinkKind::kRankTransport) {
            const double parallel = kind == LinkKind::kLocal ? local_links : 1;
            taken.push_back({kind, fabric.capacity_bytes_per_s(leg.link) / parallel});
        }
    }
    return taken;
}

std::vector<Taken> links_of(const GraphPath& path) {
    std::vector<Taken> taken;
    for (const GraphLink& link : path.links) {
        taken.push_back({link.kind, link.bytes_per_s});
    }
    return taken;
}

double latency_s(const GraphPath& path) {
    return std::accumulate(path.links.begin(), path.links.end(), 0.0,
                           [](double sum, const GraphLink& link) { return sum + link.latency_s; });
}

/// Every route between two nodes of the machine has the links of the graph's shortest path, in its order, and its
/// latency.
void expect_shortest_paths(const models::Machine& machine) {
    const FabricGraph graph(machine);
    const Fabric fabric(machine, plain_stack(), all_of(machine));
    const int tiles = machine.node.tiles, ranks = machine.fabric.max_nodes * tiles;
    for (int from = 0; from < ranks; from += 1 + ranks / 60) {
        for (int to = 0; to < ranks; to += 1 + ranks / 90) {
            if (from / tiles == to / tiles) {
                continue;
            }
            const GraphPath path = graph.shortest_path(from / tiles, from % tiles, to / tiles, to % tiles);
            const Route route = fabric.route(from, to);
            ASSERT_EQ(links_of(fabric, route, machine.fabric.local_links), links_of(path)) << from << " to " << to;
            ASSERT_NEAR(route.latency_s, latency_s(path), 1e-15) << from << " to " << to;
            ASSERT_NEAR(route.latency_s, machine.node.nic_latency_s + path.switches * machine.fabric.switch_latency_s,
                        1e-15);
        }
    }
}

TEST(FabricGraph, minimal_routes_of_a_dragonfly_are_shortest_paths) {
    expect_shortest_paths(small_dragonfly({.groups = 1, .switches = 5, .nodes_per_switch = 2}));
    expect_shortest_paths(small_dragonfly({.groups = 2, .switches = 4}));
    expect_shortest_paths(small_dragonfly({.groups = 4, .switches = 3, .nodes_per_switch = 2, .local_links = 3}));
    expect_shortest_paths(small_dragonfly({.groups = 9, .switches = 4}));  // 8 links over 4 switches: 2 each
    expect_shortest_paths(small_dragonfly({.groups = 8, .switches = 4}));  // 7 over 4: 1 or 2 each
    expect_shortest_paths(small_dragonfly({.groups = 4, .switches = 8}));  // 3 over 8: most have none
    expect_shortest_paths(small_dragonfly({.groups = 6, .switches = 1, .nodes_per_switch = 3}));
}

// Each of the h links between two groups carries a 1/h of the flow: over the links, the mean of the switches that the
// graph passes from the source's switch to the link and from the link to the destination's is the route's, and the
// smallest is the shortest path's.
TEST(FabricGraph, parallel_global_links_take_equal_parts_each_by_its_own_shortest_way) {
    for (const models::Machine& machine :
         {small_dragonfly({.groups = 5, .switches = 4, .global_links = 3}),
          small_dragonfly({.groups = 3, .switches = 6, .nodes_per_switch = 2, .local_links = 2, .global_links = 4}),
          small_dragonfly({.groups = 2, .switches = 3, .global_links = 7})}) {
        const FabricGraph graph(machine);
        const Fabric fabric(machine, plain_stack(), all_of(machine));
        std::map<std::pair<int, int>, std::vector<GraphLink>> between;
        graph.for_each_link([&](const GraphLink& link) {
            if (link.kind == LinkKind::kGlobal) {
                between[{graph.vertex(link.from).block, graph.vertex(link.to).block}].push_back(link);
            }
        });
        for (int from = 0; from < machine.fabric.max_nodes; ++from) {
            const std::uint32_t s = switch_of(graph, from, 0);
            const std::vector<int> from_s = graph.switches_passed(s);
            for (int to = 0; to < machine.fabric.max_nodes; ++to) {
                const std::uint32_t t = switch_of(graph, to, 0);
                const int g = graph.vertex(s).block, h = graph.vertex(t).block;
                if (g == h) {
                    continue;
                }
                ASSERT_EQ(between[std::pair(g, h)].size(), static_cast<std::size_t>(machine.fabric.global_links));
                double switches = 0, ways = 0, least = 1e9;
                for (const GraphLink& link : between[std::pair(g, h)]) {
                    const double passed = from_s[link.from] + graph.switches_passed(link.to)[t];
                    switches += passed, ways += 1;
                    least = std::min(least, passed);
                }
                const Route route = fabric.route(2 * from, 2 * to);
                EXPECT_NEAR(route.latency_s, 2e-6 + switches / ways * 0.5e-6, 1e-15);
                EXPECT_EQ(graph.shortest_path(from, 0, to, 0).switches, least);
                std::map<LinkKind, double> weights;
                for (const Leg& leg : route.legs) {
                    weights[fabric.kind(leg.link)] += leg.weight;
                    if (fabric.kind(leg.link) == LinkKind::kGlobal) {
                        EXPECT_DOUBLE_EQ(leg.weight, 1 / ways);
                        EXPECT_DOUBLE_EQ(fabric.capacity_bytes_per_s(leg.link), 50e9);
                    }
                }
                EXPECT_NEAR(weights[LinkKind::kGlobal], 1, 1e-12);
                EXPECT_NEAR(weights[LinkKind::kLocal], switches / ways - 2, 1e-12);
            }
        }
    }
}

models::Machine three_levels(models::Machine machine, int leaves_per_pod, double pod_taper, int nodes) {
    machine.fabric.levels = 3;
    machine.fabric.leaves_per_pod = leaves_per_pod;
    machine.fabric.pod_taper = pod_taper;
    machine.fabric.max_nodes = nodes;
    machine.fabric.routing = models::RoutingKind::kMinimal;
    return machine;
}

TEST(FabricGraph, minimal_routes_of_trees_and_rails_are_shortest_paths) {
    for (models::Machine machine : {switch_machine(), rail_machine()}) {
        machine.fabric.routing = models::RoutingKind::kMinimal;
        machine.fabric.max_nodes = 18;  // the last leaf or unit has two nodes
        expect_shortest_paths(machine);
        expect_shortest_paths(three_levels(machine, 2, 1, 40));
        expect_shortest_paths(three_levels(machine, 3, 0.4, 30));
    }
}

// D mod k: a flow to destination d goes by uplink d mod U of its leaf and d mod P of its pod. That is one way through
// the graph if pod uplink d mod P begins at spine d mod U.
TEST(FabricGraph, pinned_uplinks_of_leaf_and_pod_meet_at_one_spine) {
    for (const double pod_taper : {1.0, 0.5, 0.3, 0.07}) {
        const FabricGraph graph(three_levels(switch_machine(), 3, pod_taper, 30));
        std::uint64_t cores = 0, spines = 0;
        for (std::uint32_t v = 0; v < graph.switch_count(); ++v) {
            cores += graph.vertex(v).kind == VertexKind::kCore ? 1U : 0U;
            spines += graph.vertex(v).kind == VertexKind::kSpine && graph.vertex(v).pod == 0 ? 1U : 0U;
        }
        ASSERT_EQ(spines, 16U);
        graph.for_each_link([&](const GraphLink& link) {
            const GraphVertex &from = graph.vertex(link.from), &to = graph.vertex(link.to);
            if (from.kind == VertexKind::kSpine && to.kind == VertexKind::kCore) {
                for (int d = to.index; d < 1000; d += static_cast<int>(cores)) {
                    EXPECT_EQ(d % 16, from.index) << pod_taper;
                }
            }
        });
    }
}

TEST(FabricGraph, the_way_from_a_tile_to_its_nic_is_that_of_the_node) {
    models::Machine machine = mesh_machine();
    machine.fabric.routing = models::RoutingKind::kMinimal;
    machine.fabric.global_links = 1;
    machine.fabric.groups = 3;
    machine.fabric.max_nodes = 3 * 64;
    machine.node.socket_in_bytes_per_s = 160e9;
    expect_shortest_paths(machine);
    machine.node.mesh_links = 2;
    expect_shortest_paths(machine);
}

TEST(FabricGraph, a_route_back_is_the_route_turned_round) {
    models::Machine tree = switch_machine(), rails = rail_machine();
    tree.fabric.routing = rails.fabric.routing = models::RoutingKind::kMinimal;
    tree.fabric.max_nodes = rails.fabric.max_nodes = 20;
    for (const models::Machine& machine :
         {small_dragonfly({.groups = 7, .switches = 3, .global_links = 2}),
          small_dragonfly({.groups = 4, .switches = 4, .nodes_per_switch = 2}), tree, rails}) {
        const FabricGraph graph(machine);
        const Fabric fabric(machine, plain_stack(), all_of(machine));
        const int tiles = machine.node.tiles;
        for (int a = 0; a < machine.fabric.max_nodes; ++a) {
            for (int b = 0; b < a; ++b) {
                EXPECT_EQ(graph.shortest_path(a, 0, b, tiles - 1).switches,
                          graph.shortest_path(b, tiles - 1, a, 0).switches);
                const Route there = fabric.route(a * tiles, b * tiles + tiles - 1),
                            back = fabric.route(b * tiles + tiles - 1, a * tiles);
                EXPECT_NEAR(there.latency_s, back.latency_s, 1e-15);
                std::map<LinkKind, double> weights;
                for (const Leg& leg : there.legs) {
                    weights[fabric.kind(leg.link)] += leg.weight;
                }
                for (const Leg& leg : back.legs) {
                    weights[fabric.kind(leg.link)] -= leg.weight;
                }
                for (const auto& [kind, weight] : weights) {
                    EXPECT_NEAR(weight, 0, 1e-12) << to_string(kind);
                }
            }
        }
    }
}

// (groups - 1) x global_links over the switches of a group: floor or ceiling of the mean on each.
TEST(FabricGraph, every_switch_of_a_dragonfly_has_about_the_same_number_of_global_ports) {
    for (const auto& [groups, switches, global_links] :
         std::vector<std::array<int, 3>>{{166, 32, 2}, {74, 32, 4}, {9, 4, 1}, {8, 4, 1}, {4, 7, 1}, {2, 3, 5}}) {
        models::Machine machine =
            small_dragonfly({.groups = groups, .switches = switches, .global_links = global_links});
        const FabricGraph graph(machine);
        std::vector<int> ports(graph.switch_count());
        graph.for_each_link([&](const GraphLink& link) {
            if (link.kind == LinkKind::kGlobal) {
                ++ports[link.from];
            }
        });
        const int all = (groups - 1) * global_links, least = all / switches, most = (all + switches - 1) / switches;
        for (const int count : ports) {
            EXPECT_GE(count, least);
            EXPECT_LE(count, most);
        }
        EXPECT_EQ(std::accumulate(ports.begin(), ports.end(), 0), groups * all);
    }
}

// 166 groups x 64 nodes x 8 NICs = 84,992, x 25 GB/s = 2.12 PB/s one direction. C(166, 2) = 13,695 pairs x 2 links x
// 50 GB/s = 1.37 PB/s both directions; 83 x 83 x 2 x 50 GB/s = 0.689 PB/s. A group: 165 x 2 x 25 GB/s = 8.25 TB/s out,
// 512 NICs x 25 GB/s = 12.8 TB/s in: 0.645.
TEST(FabricGraph, the_whole_of_aurora_adds_up_to_what_is_stated_of_it) {
    const auto start = std::chrono::steady_clock::now();
    const models::Machine machine = load("aurora");
    const FabricGraph graph(machine);
    const FabricTotals totals = totals_of(graph);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(totals.nodes, 10'624U);
    EXPECT_EQ(totals.tiles, 127'488U);
    EXPECT_EQ(totals.nics, 84'992U);
    EXPECT_EQ(totals.blocks, 166U);
    EXPECT_EQ(totals.switches, 166U * 32);
    EXPECT_EQ(totals.spines + totals.cores, 0U);
    EXPECT_EQ(links(totals, LinkKind::kNic), 84'992U);
    EXPECT_EQ(links(totals, LinkKind::kLocal), 166U * 32 * 31 / 2);
    EXPECT_EQ(links(totals, LinkKind::kGlobal), 13'695U * 2);
    EXPECT_EQ(links(totals, LinkKind::kPcieCard), 10'624U * 6);
    EXPECT_NEAR(totals.injection_bytes_per_s / 2.12e15, 1, 0.01);
    EXPECT_NEAR(totals.global_bytes_per_s / 1.37e15, 1, 0.01);
    EXPECT_NEAR(totals.bisection_bytes_per_s, 83.0 * 83 * 2 * 50e9, 1);
    EXPECT_NEAR(totals.taper(), 8.25 / 12.8, 1e-12);
    EXPECT_GT(totals.taper(), 0.64);
    EXPECT_LT(totals.taper(), 0.68);
    EXPECT_EQ(totals.diameter_switches, 4);  // local, global, local: 3 hops
    for (const StatedCheck& check : check_stated(machine, totals)) {
        EXPECT_TRUE(check.matches) << check.name << ' ' << check.difference;
    }
    EXPECT_LT(elapsed.count(), 20);  // about a second when optimised; wide for sanitizers and busy machines
}

TEST(FabricGraph, groups_are_wired_alike_so_that_one_of_them_gives_the_diameter) {
    for (const models::Machine& machine :
         {small_dragonfly({.groups = 7, .switches = 4}), small_dragonfly({.groups = 3, .switches = 5}),
          small_dragonfly({.groups = 6, .switches = 2, .global_links = 3}),
          small_dragonfly({.groups = 1, .switches = 4}), small_dragonfly({.groups = 5, .switches = 1})}) {
        const FabricGraph graph(machine);
        int most = 0;
        for (std::uint32_t v = 0; v < graph.switch_count(); ++v) {
            for (const int passed : graph.switches_passed(v)) {
                EXPECT_GT(passed, 0);
                most = std::max(most, passed);
            }
        }
        EXPECT_EQ(totals_of(graph).diameter_switches, most);
    }
}

// Leaves of 4 nodes x 8 NICs x 50 GB/s: 1.6 TB/s in, half of it up by 16 uplinks. 5 leaves, 3 and 2: the cut is what
// the 2 leaves have, 2 x 800 GB/s, in both directions.
TEST(FabricGraph, a_tree_is_cut_through_its_top_level) {
    models::Machine machine = switch_machine();
    machine.fabric.max_nodes = 18;
    const FabricTotals totals = totals_of(FabricGraph(machine));
    EXPECT_EQ(totals.switches, 5U);
    EXPECT_EQ(totals.spines, 16U);
    EXPECT_EQ(totals.pods, 0U);
    EXPECT_EQ(links(totals, LinkKind::kLeafUplink), 5U * 16);
    EXPECT_DOUBLE_EQ(totals.bisection_bytes_per_s, 2 * 2 * 800e9);
    EXPECT_DOUBLE_EQ(totals.taper(), 0.5);
    EXPECT_EQ(totals.diameter_switches, 3);
    EXPECT_EQ(totals.global_bytes_per_s, 0);
    // 4 pods of 2 leaves, 2 x 800 GB/s x 0.25 each to the cores: 2 of the 4 in each half.
    const FabricTotals pods = totals_of(FabricGraph(three_levels(switch_machine(), 2, 0.25, 32)));
    EXPECT_EQ(pods.pods, 4U);
    EXPECT_DOUBLE_EQ(pods.bisection_bytes_per_s, 2 * 2 * 400e9);
    EXPECT_DOUBLE_EQ(pods.pod_out_bytes_per_s, 400e9);
    EXPECT_DOUBLE_EQ(pods.pod_injection_bytes_per_s, 2 * 1.6e12);
    EXPECT_EQ(pods.diameter_switches, 5);
    // Rails: 8 leaves a unit of 4 nodes, each 200 GB/s in and 100 GB/s up.
    models::Machine rails = rail_machine();
    rails.fabric.max_nodes = 16;
    const FabricTotals of_rails = totals_of(FabricGraph(rails));
    EXPECT_EQ(of_rails.blocks, 4U);
    EXPECT_EQ(of_rails.switches, 32U);
    EXPECT_DOUBLE_EQ(of_rails.block_out_bytes_per_s, 8 * 100e9);
    EXPECT_DOUBLE_EQ(of_rails.bisection_bytes_per_s, 2 * 2 * 8 * 100e9);
    EXPECT_EQ(of_rails.diameter_switches, 3);
}

TEST(FabricGraph, a_stated_total_that_the_recipe_does_not_give_is_a_mismatch) {
    models::Machine machine = small_dragonfly({.groups = 4, .switches = 3});
    const FabricTotals totals = totals_of(FabricGraph(machine));
    EXPECT_TRUE(check_stated(machine, totals).empty());
    machine.fabric.stated.nics = 24;
    machine.fabric.stated.global_bytes_per_s = 0.99 * 6 * 2 * 50e9;
    machine.fabric.stated.bisection_bytes_per_s = 1.05 * 4 * 2 * 50e9;
    const std::vector<StatedCheck> checks = check_stated(machine, totals);
    ASSERT_EQ(checks.size(), 3U);
    EXPECT_STREQ(checks[0].name, "nics");
    EXPECT_TRUE(checks[0].matches);
    EXPECT_TRUE(checks[1].matches);
    EXPECT_FALSE(checks[2].matches);
    EXPECT_NEAR(checks[2].difference, 1 / 1.05 - 1, 1e-12);
}

TEST(FabricGraph, a_machine_that_is_too_large_to_build_link_by_link_is_refused) {
    EXPECT_THROW(FabricGraph(small_dragonfly({.groups = 100, .switches = 1000, .nodes_per_switch = 1})), InputError);
    models::Machine machine = switch_machine();
    machine.fabric.link_bytes_per_s = 1e5;
    EXPECT_THROW(FabricGraph{machine}, InputError);
}

}  // namespace
}  // namespace auspex::network
