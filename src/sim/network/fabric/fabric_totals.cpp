/// @file Sums and cuts over the links of the graph.
#include "sim/network/fabric/fabric_totals.hpp"

#include <algorithm>
#include <cmath>

#include "sim/network/node/nic_wire.hpp"

namespace auspex::network {
namespace {

bool is_block_switch(const GraphVertex& vertex) { return vertex.kind == VertexKind::kSwitch; }

void count_vertices(const FabricGraph& graph, FabricTotals& totals) {
    int last_block = -1, last_pod = -1;
    for (std::uint32_t v = 0; v < graph.vertex_count(); ++v) {
        const GraphVertex& vertex = graph.vertex(v);
        last_block = std::max(last_block, vertex.block);
        last_pod = std::max(last_pod, vertex.pod);
        switch (vertex.kind) {
            case VertexKind::kSwitch: ++totals.switches; break;
            case VertexKind::kSpine: ++totals.spines; break;
            case VertexKind::kCore: ++totals.cores; break;
            case VertexKind::kTile: ++totals.tiles; break;
            case VertexKind::kNic: ++totals.nics; break;
            default: break;
        }
    }
    totals.nodes = static_cast<std::uint64_t>(graph.machine().fabric.max_nodes);
    totals.blocks = static_cast<std::uint64_t>(last_block + 1);
    totals.pods = totals.cores > 0 ? static_cast<std::uint64_t>(last_pod + 1) : 0;
}

/// Links between switches, one direction each.
std::vector<GraphLink> switch_links(const FabricGraph& graph) {
    std::vector<GraphLink> links;
    graph.for_each_link([&](const GraphLink& link) {
        if (link.from < graph.switch_count() && link.to < graph.switch_count()) {
            links.push_back(link);
        }
    });
    return links;
}

/// True: the second half. Groups, pods or, where there is one of them, their parts are halved by number.
std::vector<bool> halves(const FabricGraph& graph, const FabricTotals& totals, const std::vector<GraphLink>& links) {
    const bool dragonfly = graph.machine().fabric.kind == models::FabricKind::kDragonfly;
    const auto is_second = [&](const GraphVertex& vertex) {
        if (!dragonfly && totals.pods > 1) {
            return vertex.pod >= static_cast<int>((totals.pods + 1) / 2);
        }
        const bool by_switch = totals.blocks == 1;
        const std::uint64_t parts = by_switch ? totals.switches : totals.blocks;
        return (by_switch ? vertex.index : vertex.block) >= static_cast<int>((parts + 1) / 2);
    };
    std::vector<bool> second(graph.switch_count());
    std::vector<double> pull(graph.switch_count());  // of spines and cores: capacity to the second half less the first
    for (std::uint32_t v = 0; v < graph.switch_count(); ++v) {
        second[v] = is_block_switch(graph.vertex(v)) && is_second(graph.vertex(v));
    }
    for (const VertexKind upper : {VertexKind::kSpine, VertexKind::kCore}) {
        for (const GraphLink& up : links) {
            if (graph.vertex(up.to).kind == upper && up.from < up.to) {
                pull[up.to] += second[up.from] ? up.bytes_per_s : -up.bytes_per_s;
            }
        }
        for (std::uint32_t v = 0; v < graph.switch_count(); ++v) {
            if (graph.vertex(v).kind == upper) {
                second[v] = pull[v] > 0;
            }
        }
    }
    return second;
}

void add_cuts(const FabricGraph& graph, FabricTotals& totals) {
    const std::vector<GraphLink> links = switch_links(graph);
    const std::vector<bool> second = halves(graph, totals, links);
    for (const GraphLink& link : links) {
        const GraphVertex &from = graph.vertex(link.from), &to = graph.vertex(link.to);
        totals.global_bytes_per_s += link.kind == LinkKind::kGlobal ? link.bytes_per_s : 0;
        totals.bisection_bytes_per_s += second[link.from] != second[link.to] ? link.bytes_per_s : 0;
        totals.block_out_bytes_per_s += from.block == 0 && to.block != 0 ? link.bytes_per_s : 0;
        const bool climbs_in_pod =
            totals.pods > 0 && link.kind == LinkKind::kLeafUplink && from.pod == 0 && from.kind == VertexKind::kSwitch;
        totals.pod_uplinks_bytes_per_s += climbs_in_pod ? link.bytes_per_s : 0;
        totals.pod_out_bytes_per_s += totals.pods > 0 && from.pod == 0 && to.pod != 0 ? link.bytes_per_s : 0;
    }
}

void find_diameter(const FabricGraph& graph, FabricTotals& totals) {
    const bool dragonfly = graph.machine().fabric.kind == models::FabricKind::kDragonfly;
    for (std::uint32_t v = 0; v < graph.switch_count() && graph.vertex(v).block == 0; ++v) {
        const std::vector<int> passed = graph.switches_passed(v);
        for (std::uint32_t to = 0; to < graph.switch_count(); ++to) {
            if (is_block_switch(graph.vertex(to))) {
                totals.diameter_switches = std::max(totals.diameter_switches, passed[to]);
            }
        }
        if (!dragonfly) {
            break;
        }
    }
}

}  // namespace

FabricTotals totals_of(const FabricGraph& graph) {
    const models::Machine& machine = graph.machine();
    const models::FabricRecipe& recipe = machine.fabric;
    FabricTotals totals;
    count_vertices(graph, totals);
    std::array<std::uint64_t, kLinkKinds> directions{};
    graph.for_each_link(
        [&](const GraphLink& link) { directions[static_cast<std::size_t>(link.kind)] += link.is_internal ? 0U : 1U; });
    std::transform(directions.begin(), directions.end(), totals.links.begin(), [](auto count) { return count / 2; });
    add_cuts(graph, totals);
    find_diameter(graph, totals);
    const double nic = nic_wire_bytes_per_s(machine), nics_per_node = machine.node.nics;
    const int block = recipe.kind == models::FabricKind::kDragonfly ? recipe.nodes_per_group : recipe.nodes_per_leaf;
    totals.injection_bytes_per_s = static_cast<double>(totals.nics) * nic;
    totals.block_injection_bytes_per_s = block * nics_per_node * nic;
    totals.pod_injection_bytes_per_s = totals.pods > 0 ? totals.block_injection_bytes_per_s * recipe.leaves_per_pod : 0;
    return totals;
}

std::vector<StatedCheck> check_stated(const models::Machine& machine, const FabricTotals& totals) {
    const models::StatedTotals& stated = machine.fabric.stated;
    std::vector<StatedCheck> checks;
    const auto compare = [&](const char* name, bool is_rate, double says, double built) {
        if (says > 0) {
            const double difference = built / says - 1;
            checks.push_back({name, is_rate, says, built, difference, std::abs(difference) <= kStatedTolerance});
        }
    };
    const auto switches = totals.switches + totals.spines + totals.cores;
    compare("nics", false, stated.nics, static_cast<double>(totals.nics));
    compare("switches", false, stated.switches, static_cast<double>(switches));
    compare("injection", true, stated.injection_bytes_per_s, totals.injection_bytes_per_s);
    compare("global", true, stated.global_bytes_per_s, totals.global_bytes_per_s);
    compare("bisection", true, stated.bisection_bytes_per_s, totals.bisection_bytes_per_s);
    return checks;
}

}  // namespace auspex::network
