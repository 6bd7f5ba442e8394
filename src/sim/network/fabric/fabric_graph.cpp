/// @file The machine's graph, in compressed rows: switches first, then the parts of node after node.
#include "sim/network/fabric/fabric_graph.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "sim/network/fabric/dragonfly.hpp"
#include "sim/network/fabric/tree.hpp"
#include "sim/network/node/node_template.hpp"

namespace auspex::network {
namespace {

/// What a link is, apart from its ends.
struct Wire {
    LinkKind kind;
    bool is_internal;
    double bytes_per_s, latency_s;
};
using SwitchGraph = boost::compressed_sparse_row_graph<boost::directedS, GraphVertex, Wire, boost::no_property,
                                                       std::uint32_t, std::uint32_t>;
using Edge = boost::graph_traits<SwitchGraph>::edge_descriptor;

VertexKind vertex_kind(PartKind part) {
    switch (part) {
        case PartKind::kTile: return VertexKind::kTile;
        case PartKind::kCard: return VertexKind::kCard;
        case PartKind::kNodeSwitch: return VertexKind::kNodeSwitch;
        case PartKind::kSocket: return VertexKind::kSocket;
        case PartKind::kSocketNics: return VertexKind::kSocketNics;
        default: return VertexKind::kNic;
    }
}

/// Lists vertices and both directions of every link.
class GraphBuilder {
 public:
    explicit GraphBuilder(const models::Machine& machine)
        : machine_(machine), recipe_(machine.fabric), node_(node_template(machine.node)) {
        if (recipe_.kind == models::FabricKind::kDragonfly) {
            build_dragonfly();
        } else {
            build_tree();
        }
        switches_ = static_cast<std::uint32_t>(vertices_.size());
        add_nodes();
    }
    [[nodiscard]] SwitchGraph graph() const {
        SwitchGraph graph(boost::edges_are_unsorted_multi_pass, ends_.begin(), ends_.end(), wires_.begin(),
                          static_cast<std::uint32_t>(vertices_.size()));
        for (std::uint32_t v = 0; v < vertices_.size(); ++v) {
            graph[v] = vertices_[v];
        }
        return graph;
    }
    [[nodiscard]] std::uint32_t switches() const { return switches_; }
    [[nodiscard]] std::uint32_t parts() const { return static_cast<std::uint32_t>(node_.parts.size()); }

 private:
    void reserve(double switch_links) {
        const double inside = static_cast<double>(node_.links.size() + 2 * node_.nics.size());
        const double links = 2 * switch_links + inside * recipe_.max_nodes;
        if (links > kMaxGraphLinks) {
            throw InputError(
                machine_.file + ": $.fabric",
                "found a machine of more than twenty million links; expected one that can be built link by "
                "link");
        }
        ends_.reserve(static_cast<std::size_t>(links));
        wires_.reserve(static_cast<std::size_t>(links));
    }
    void link(std::uint32_t from, std::uint32_t to, const Wire& wire) {
        ends_.emplace_back(from, to);
        wires_.push_back(wire);
    }
    void join_switches(std::uint32_t a, std::uint32_t b, LinkKind kind, double bytes_per_s) {
        const Wire wire{kind, false, bytes_per_s, recipe_.switch_latency_s};
        link(a, b, wire);
        link(b, a, wire);
    }
    void build_dragonfly();
    void build_tree();
    void add_spines_and_cores(const TreeShape& shape, int pods);
    void add_nodes();
    [[nodiscard]] std::uint32_t switch_of(int node, int nic) const;
    [[nodiscard]] double scale_up_latency(LinkKind kind) const;

    const models::Machine& machine_;
    const models::FabricRecipe& recipe_;
    NodeTemplate node_;
    std::vector<GraphVertex> vertices_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_;
    std::vector<Wire> wires_;
    std::uint32_t switches_ = 0;
};

void GraphBuilder::build_dragonfly() {
    const int groups = recipe_.groups, a = recipe_.switches_per_group;
    const double pairs_of_groups = 0.5 * groups * (groups - 1), pairs_of_switches = 0.5 * groups * a * (a - 1.0);
    reserve(pairs_of_groups * recipe_.global_links + pairs_of_switches * recipe_.local_links);
    for (int g = 0; g < groups; ++g) {
        for (int s = 0; s < a; ++s) {
            vertices_.push_back({.kind = VertexKind::kSwitch, .block = g, .index = s});
        }
    }
    const auto number = [a](int group, int s) { return static_cast<std::uint32_t>(group * a + s); };
    for (int g = 0; g < groups; ++g) {
        for (int s = 0; s < a; ++s) {
            for (int t = s + 1; t < a; ++t) {
                for (int k = 0; k < recipe_.local_links; ++k) {
                    join_switches(number(g, s), number(g, t), LinkKind::kLocal, recipe_.link_bytes_per_s);
                }
            }
        }
        for (int h = g + 1; h < groups; ++h) {
            for (int k = 0; k < recipe_.global_links; ++k) {
                join_switches(number(g, 0) + dragonfly_gateway(recipe_, g, h, k),
                              number(h, 0) + dragonfly_gateway(recipe_, h, g, k), LinkKind::kGlobal,
                              recipe_.link_bytes_per_s);
            }
        }
    }
}

void GraphBuilder::build_tree() {
    const TreeShape shape = tree_shape(machine_);
    const int blocks = (recipe_.max_nodes - 1) / recipe_.nodes_per_leaf + 1;
    const int pods = shape.blocks_per_pod == 0 ? 1 : (blocks - 1) / shape.blocks_per_pod + 1;
    reserve(static_cast<double>(blocks) * shape.leaves_per_block * shape.leaf_uplinks +
            static_cast<double>(pods) * shape.pod_uplinks);
    for (int b = 0; b < blocks; ++b) {
        for (int l = 0; l < shape.leaves_per_block; ++l) {
            const int pod = shape.blocks_per_pod == 0 ? 0 : b / shape.blocks_per_pod;
            vertices_.push_back({.kind = VertexKind::kSwitch, .block = b, .pod = pod, .index = l});
        }
    }
    add_spines_and_cores(shape, pods);
}

void GraphBuilder::add_spines_and_cores(const TreeShape& shape, int pods) {
    const auto leaves = static_cast<std::uint32_t>(vertices_.size());
    const auto spines = static_cast<std::uint32_t>(shape.leaf_uplinks);
    const std::uint32_t first_core = leaves + static_cast<std::uint32_t>(pods) * spines;
    for (int p = 0; p < pods; ++p) {
        for (int u = 0; u < shape.leaf_uplinks; ++u) {
            vertices_.push_back({.kind = VertexKind::kSpine, .pod = p, .index = u});
        }
    }
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
        const std::uint32_t first = leaves + static_cast<std::uint32_t>(vertices_[leaf].pod) * spines;
        for (std::uint32_t u = 0; u < spines; ++u) {
            join_switches(leaf, first + u, LinkKind::kLeafUplink, shape.leaf_bytes_per_s / shape.leaf_uplinks);
        }
    }
    if (shape.blocks_per_pod == 0) {
        return;
    }
    const auto cores = static_cast<std::uint32_t>(shape.pod_uplinks);
    AUSPEX_CHECK(spines > 0, "a leaf has an uplink");
    for (int u = 0; u < shape.pod_uplinks; ++u) {
        vertices_.push_back({.kind = VertexKind::kCore, .index = u});
    }
    for (std::uint32_t p = 0; p < static_cast<std::uint32_t>(pods); ++p) {
        for (std::uint32_t u = 0; u < cores; ++u) {
            join_switches(leaves + p * spines + u % spines, first_core + u, LinkKind::kPodUplink,
                          shape.pod_bytes_per_s / shape.pod_uplinks);
        }
    }
}

std::uint32_t GraphBuilder::switch_of(int node, int nic) const {
    if (recipe_.kind == models::FabricKind::kDragonfly) {
        const int group = node / recipe_.nodes_per_group;
        return static_cast<std::uint32_t>(group * recipe_.switches_per_group) +
               dragonfly_switch(recipe_, node % recipe_.nodes_per_group);
    }
    const int leaves = recipe_.kind == models::FabricKind::kRail ? machine_.node.nics : 1;
    return static_cast<std::uint32_t>(node / recipe_.nodes_per_leaf * leaves + leaf_of_nic(recipe_, nic));
}

/// The message's latency lies on the one link between two tiles, or in halves on two ports of the node's switch.
double GraphBuilder::scale_up_latency(LinkKind kind) const {
    switch (kind) {
        case LinkKind::kPair:
        case LinkKind::kMesh: return machine_.node.scale_up_latency_s;
        case LinkKind::kSwitchPort: return machine_.node.scale_up_latency_s / 2;
        default: return 0;
    }
}

void GraphBuilder::add_nodes() {
    const double half = machine_.node.nic_latency_s / 2;
    const Wire up{LinkKind::kNic, false, machine_.node.nic_bytes_per_s, half + recipe_.switch_latency_s};
    const Wire down{LinkKind::kNic, false, machine_.node.nic_bytes_per_s, half};
    for (int n = 0; n < recipe_.max_nodes; ++n) {
        const auto first = static_cast<std::uint32_t>(vertices_.size());
        for (const NodePart& part : node_.parts) {
            vertices_.push_back({.kind = vertex_kind(part.kind), .node = n, .index = part.index});
        }
        for (const TemplateLink& inside : node_.links) {
            const double latency_s = inside.is_internal ? 0 : scale_up_latency(inside.kind);
            link(first + inside.from, first + inside.to,
                 {inside.kind, inside.is_internal, inside.bytes_per_s, latency_s});
        }
        for (std::size_t nic = 0; nic < node_.nics.size(); ++nic) {
            const std::uint32_t at = switch_of(n, static_cast<int>(nic));
            link(first + node_.nics[nic], at, up);
            link(at, first + node_.nics[nic], down);
        }
    }
}

/// Shortest ways from one vertex over vertices [first, end): by fewest links between groups, then by fewest links.
class Search {
 public:
    Search(const SwitchGraph& graph, std::uint32_t from, std::uint32_t first, std::uint32_t end)
        : graph_(graph), links_(num_vertices(graph), kUnreached), previous_(num_vertices(graph)) {
        const std::function<bool(std::uint32_t)> is_inside = [=](std::uint32_t v) { return first <= v && v < end; };
        const auto inside = boost::make_filtered_graph(graph, boost::keep_all{}, is_inside);
        const auto weight = boost::make_function_property_map<Edge>(
            [&graph](Edge edge) { return graph[edge].kind == LinkKind::kGlobal ? kBetweenGroups : 1; });
        const auto index = get(boost::vertex_index, graph);
        boost::dijkstra_shortest_paths(inside, from,
                                       boost::weight_map(weight)
                                           .distance_map(boost::make_iterator_property_map(links_.begin(), index))
                                           .predecessor_map(boost::make_iterator_property_map(previous_.begin(), index))
                                           .vertex_index_map(index));
    }
    [[nodiscard]] bool reaches(std::uint32_t vertex) const { return links_[vertex] != kUnreached; }
    /// On the way to a vertex that is reached.
    [[nodiscard]] int links(std::uint32_t vertex) const {
        return links_[vertex] / kBetweenGroups + links_[vertex] % kBetweenGroups;
    }
    /// The last link on the way to a vertex; none for the first one.
    [[nodiscard]] std::optional<Edge> last_link(std::uint32_t vertex) const {
        return links_[vertex] == 0 ? std::nullopt : std::optional(edge(previous_[vertex], vertex, graph_).first);
    }

 private:
    static constexpr int kUnreached = std::numeric_limits<int>::max();
    static constexpr int kBetweenGroups = 1 << 16;  ///< more than the other links of any way

    const SwitchGraph& graph_;
    std::vector<int> links_;  ///< kBetweenGroups for each link between groups, 1 for each other
    std::vector<std::uint32_t> previous_;
};

}  // namespace

struct FabricGraph::Impl {
    explicit Impl(const models::Machine& of) : Impl(of, GraphBuilder(of)) {}
    Impl(const models::Machine& of, const GraphBuilder& builder)
        : machine(of), graph(builder.graph()), switches(builder.switches()), parts(builder.parts()) {}

    [[nodiscard]] GraphLink link(Edge edge) const {
        const Wire& wire = graph[edge];
        return {source(edge, graph), target(edge, graph), wire.kind,
                wire.is_internal,    wire.bytes_per_s,    wire.latency_s};
    }
    void append(const Search& search, std::uint32_t to, GraphPath& path) const {
        const std::size_t begin = path.links.size();
        while (const std::optional<Edge> last = search.last_link(to)) {
            if (const GraphLink taken = link(*last); !taken.is_internal) {
                path.links.push_back(taken);
            }
            to = source(*last, graph);
        }
        std::reverse(path.links.begin() + static_cast<std::ptrdiff_t>(begin), path.links.end());
    }
    [[nodiscard]] std::uint32_t first_part(int node) const {
        return switches + static_cast<std::uint32_t>(node) * parts;
    }
    [[nodiscard]] std::uint32_t nic_vertex(int node, int tile) const {
        const int nic = nic_of_tile(machine.node, tile);
        std::uint32_t v = first_part(node);
        while (graph[v].kind != VertexKind::kNic || graph[v].index != nic) {
            ++v;
        }
        return v;
    }
    [[nodiscard]] Edge wire_out(std::uint32_t nic) const {
        const auto [begin, end] = out_edges(nic, graph);
        return *std::find_if(begin, end, [&](Edge edge) { return target(edge, graph) < switches; });
    }
    [[nodiscard]] Edge wire_in(std::uint32_t nic) const {
        const auto [begin, end] = out_edges(target(wire_out(nic), graph), graph);
        return *std::find_if(begin, end, [&](Edge edge) { return target(edge, graph) == nic; });
    }

    models::Machine machine;
    SwitchGraph graph;
    std::uint32_t switches, parts;
};

FabricGraph::FabricGraph(const models::Machine& machine) : impl_(std::make_unique<Impl>(machine)) {}
FabricGraph::~FabricGraph() = default;
FabricGraph::FabricGraph(FabricGraph&&) noexcept = default;

const models::Machine& FabricGraph::machine() const { return impl_->machine; }
std::uint32_t FabricGraph::vertex_count() const { return num_vertices(impl_->graph); }
const GraphVertex& FabricGraph::vertex(std::uint32_t number) const { return impl_->graph[number]; }
std::uint32_t FabricGraph::switch_count() const { return impl_->switches; }

void FabricGraph::for_each_link(const std::function<void(const GraphLink&)>& visit) const {
    for (std::uint32_t v = 0; v < num_vertices(impl_->graph); ++v) {
        const auto [begin, end] = out_edges(v, impl_->graph);
        std::for_each(begin, end, [&](Edge edge) { visit(impl_->link(edge)); });
    }
}

std::vector<int> FabricGraph::switches_passed(std::uint32_t from) const {
    const Search search(impl_->graph, from, 0, impl_->switches);
    std::vector<int> passed;
    for (std::uint32_t v = 0; v < impl_->switches; ++v) {
        passed.push_back(search.reaches(v) ? search.links(v) + 1 : 0);
    }
    return passed;
}

GraphPath FabricGraph::shortest_path(int from_node, int from_tile, int to_node, int to_tile) const {
    const Impl& f = *impl_;
    const auto within = [&](int node, std::uint32_t from) {
        return Search(f.graph, from, f.first_part(node), f.first_part(node + 1));
    };
    const std::uint32_t nic_from = f.nic_vertex(from_node, from_tile), nic_to = f.nic_vertex(to_node, to_tile);
    const Edge up = f.wire_out(nic_from), down = f.wire_in(nic_to);
    GraphPath path;
    f.append(within(from_node, f.first_part(from_node) + static_cast<std::uint32_t>(from_tile)), nic_from, path);
    path.links.push_back(f.link(up));
    const std::size_t before = path.links.size();
    f.append(Search(f.graph, target(up, f.graph), 0, f.switches), source(down, f.graph), path);
    path.switches = static_cast<int>(path.links.size() - before) + 1;
    path.links.push_back(f.link(down));
    f.append(within(to_node, nic_to), f.first_part(to_node) + static_cast<std::uint32_t>(to_tile), path);
    return path;
}

}  // namespace auspex::network
