/// @file One node as a graph of tiles, cards, sockets and NICs; paths by fewest links.
#include "sim/node_paths.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <utility>

#include "base/error.hpp"

namespace auspex {
namespace {

constexpr std::uint32_t kNoSlot = 0xffffffff;

struct Hop {
    std::uint32_t slot;  ///< kNoSlot: a passage without capacity of its own
    double cost;         ///< routes take the fewest links; crossing sockets is the last resort
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Hop>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

std::string numbered(const char* what, int index) { return std::string(what) + ' ' + std::to_string(index); }

/// Paths in one node, found once. Cards and hosts have a vertex for each direction, so that no path turns round in
/// them.
class NodeInside {
 public:
    NodeInside(const Node& node, const Stack& stack);
    [[nodiscard]] NodePaths take() { return std::move(paths_); }

 private:
    std::uint32_t add_slot(LinkKind kind, double bytes_per_s, std::string from, std::string to);
    void join(Vertex from, Vertex to, std::uint32_t slot, double cost = 1);
    void add_cards(const Node& node, double efficiency);
    void add_node_switch(const Node& node, double efficiency);
    void add_host(const Node& node, double efficiency);
    void add_nics(const Node& node, double efficiency);
    void find_paths(const Node& node, double rank_bytes_per_s);
    [[nodiscard]] std::vector<std::uint32_t> path(const std::vector<Vertex>& previous, Vertex from, Vertex to) const;

    NodePaths paths_;
    Graph graph_;
    std::vector<Vertex> tiles_, card_out_, card_in_, hub_out_, hub_in_, nic_out_, nic_in_;
};

std::vector<Vertex> add_vertices(Graph& graph, int count) {
    std::vector<Vertex> vertices;
    for (int i = 0; i < count; ++i) {
        vertices.push_back(add_vertex(graph));
    }
    return vertices;
}

std::uint32_t NodeInside::add_slot(LinkKind kind, double bytes_per_s, std::string from, std::string to) {
    paths_.slots.push_back({kind, bytes_per_s, std::move(from), std::move(to)});
    return static_cast<std::uint32_t>(paths_.slots.size() - 1);
}

void NodeInside::join(Vertex from, Vertex to, std::uint32_t slot, double cost) {
    add_edge(from, to, Hop{slot, cost}, graph_);
}

int nic_of_tile(const Node& node, int tile) { return tile * node.nics / node.tiles; }

NodeInside::NodeInside(const Node& node, const Stack& stack) {
    const int cards = std::max(1, node.tiles / node.tiles_per_card);
    tiles_ = add_vertices(graph_, node.tiles);
    card_out_ = add_vertices(graph_, cards);
    card_in_ = add_vertices(graph_, cards);
    hub_out_ = add_vertices(graph_, node.sockets);
    hub_in_ = add_vertices(graph_, node.sockets);
    nic_out_ = add_vertices(graph_, node.nics);
    nic_in_ = add_vertices(graph_, node.nics);
    add_cards(node, stack.scale_up_efficiency);
    if (node.scale_up == ScaleUpKind::kSwitch) {
        add_node_switch(node, stack.scale_up_efficiency);
    }
    if (node.nic_attachment == NicAttachment::kHost) {
        add_host(node, stack.scale_up_efficiency);
    }
    add_nics(node, stack.scale_out_efficiency);
    find_paths(node, transport_bytes_per_s(node, stack));
}

void NodeInside::add_cards(const Node& node, double efficiency) {
    const int cards = static_cast<int>(card_out_.size());
    for (int t = 0; t < node.tiles; ++t) {
        const auto card = static_cast<std::size_t>(t / node.tiles_per_card);
        join(tiles_[static_cast<std::size_t>(t)], card_out_[card], kNoSlot, 0);
        join(card_in_[card], tiles_[static_cast<std::size_t>(t)], kNoSlot, 0);
        const int first = t / node.tiles_per_card * node.tiles_per_card;
        for (int u = first; u < first + node.tiles_per_card; ++u) {
            if (u != t) {
                join(tiles_[static_cast<std::size_t>(t)], tiles_[static_cast<std::size_t>(u)],
                     add_slot(LinkKind::kPair, node.pair_bytes_per_s * efficiency, numbered("tile", t),
                              numbered("tile", u)));
            }
        }
    }
    if (node.scale_up != ScaleUpKind::kMeshOfPairs) {
        return;
    }
    for (int c = 0; c < cards; ++c) {
        for (int d = 0; d < cards; ++d) {
            if (c != d) {
                join(card_out_[static_cast<std::size_t>(c)], card_in_[static_cast<std::size_t>(d)],
                     add_slot(LinkKind::kMesh, node.mesh_bytes_per_s * efficiency, numbered("card", c),
                              numbered("card", d)));
            }
        }
    }
}

void NodeInside::add_node_switch(const Node& node, double efficiency) {
    const Vertex crossbar = add_vertex(graph_);
    const double rate = node.switch_bytes_per_s * efficiency;
    for (int t = 0; t < node.tiles; ++t) {
        const Vertex tile = tiles_[static_cast<std::size_t>(t)];
        join(tile, crossbar, add_slot(LinkKind::kSwitchPort, rate, numbered("tile", t), "node switch"));
        join(crossbar, tile, add_slot(LinkKind::kSwitchPort, rate, "node switch", numbered("tile", t)));
    }
}

/// Card to its socket, then everything of the socket through one PCIe switch to the hub where the socket's NICs are.
void NodeInside::add_host(const Node& node, double efficiency) {
    const std::vector<Vertex> host_out = add_vertices(graph_, node.sockets);
    const std::vector<Vertex> host_in = add_vertices(graph_, node.sockets);
    const int cards = static_cast<int>(card_out_.size());
    for (int c = 0; c < cards; ++c) {
        const auto socket = static_cast<std::size_t>(c * node.sockets / cards);
        const std::string card = numbered("card", c), host = numbered("socket", static_cast<int>(socket));
        const double rate = node.pcie_bytes_per_s * efficiency;
        join(card_out_[static_cast<std::size_t>(c)], host_out[socket], add_slot(LinkKind::kPcieCard, rate, card, host));
        join(host_in[socket], card_in_[static_cast<std::size_t>(c)], add_slot(LinkKind::kPcieCard, rate, host, card));
    }
    for (std::size_t s = 0; s < host_out.size(); ++s) {
        const std::string host = numbered("socket", static_cast<int>(s)),
                          hub = numbered("NICs of socket", static_cast<int>(s));
        const double rate = node.socket_bytes_per_s * efficiency;
        join(host_out[s], hub_out_[s], add_slot(LinkKind::kPcieSocket, rate, host, hub));
        join(hub_in_[s], host_in[s], add_slot(LinkKind::kPcieSocket, rate, hub, host));
        for (std::size_t other = 0; other < host_out.size(); ++other) {
            if (other != s) {
                join(hub_out_[s], hub_out_[other], kNoSlot, node.tiles + node.nics);
                join(hub_in_[s], hub_in_[other], kNoSlot, node.tiles + node.nics);
            }
        }
    }
}

void NodeInside::add_nics(const Node& node, double efficiency) {
    for (int n = 0; n < node.nics; ++n) {
        const auto nic = static_cast<std::size_t>(n);
        const std::uint32_t send =
            add_slot(LinkKind::kNic, node.nic_bytes_per_s * efficiency, numbered("NIC", n), "wire");
        const std::uint32_t receive =
            add_slot(LinkKind::kNic, node.nic_bytes_per_s * efficiency, "wire", numbered("NIC", n));
        if (node.nic_attachment == NicAttachment::kHost) {
            const auto socket = static_cast<std::size_t>(n * node.sockets / node.nics);
            join(hub_out_[socket], nic_out_[nic], send);
            join(nic_in_[nic], hub_in_[socket], receive);
            continue;
        }
        for (int t = 0; t < node.tiles; ++t) {
            if (nic_of_tile(node, t) == n) {
                join(tiles_[static_cast<std::size_t>(t)], nic_out_[nic], send);
                join(nic_in_[nic], tiles_[static_cast<std::size_t>(t)], receive);
            }
        }
    }
}

std::vector<std::uint32_t> NodeInside::path(const std::vector<Vertex>& previous, Vertex from, Vertex to) const {
    std::vector<std::uint32_t> taken;
    for (Vertex v = to; v != from; v = previous[v]) {
        AUSPEX_CHECK(previous[v] != v, "every tile reaches every other tile and its NIC");
        const std::uint32_t slot = graph_[edge(previous[v], v, graph_).first].slot;
        if (slot != kNoSlot) {
            taken.push_back(slot);
        }
    }
    std::reverse(taken.begin(), taken.end());
    return taken;
}

void NodeInside::find_paths(const Node& node, double rank_bytes_per_s) {
    std::vector<Vertex> previous(num_vertices(graph_));
    const auto search = [&](Vertex from) {
        boost::dijkstra_shortest_paths(graph_, from,
                                       boost::weight_map(get(&Hop::cost, graph_)).predecessor_map(previous.data()));
    };
    for (int t = 0; t < node.tiles; ++t) {
        const Vertex tile = tiles_[static_cast<std::size_t>(t)];
        const auto nic = static_cast<std::size_t>(nic_of_tile(node, t));
        search(tile);
        for (const Vertex other : tiles_) {
            paths_.between.push_back(path(previous, tile, other));
        }
        paths_.out.push_back(path(previous, tile, nic_out_[nic]));
        search(nic_in_[nic]);
        paths_.in.push_back(path(previous, nic_in_[nic], tile));
        // The transport belongs to the rank, not to a wire of the graph: flows inside the node do not use it.
        const std::string rank = numbered("rank of tile", t);
        paths_.out.back().insert(paths_.out.back().begin(),
                                 add_slot(LinkKind::kRankTransport, rank_bytes_per_s, rank, "transport"));
        paths_.in.back().push_back(add_slot(LinkKind::kRankTransport, rank_bytes_per_s, "transport", rank));
    }
}

}  // namespace

double transport_bytes_per_s(const Node& node, const Stack& stack) {
    const double nic_bytes_per_s = node.nic_bytes_per_s * stack.scale_out_efficiency;
    return node.nic_attachment == NicAttachment::kHost ? stack.rank_bytes_per_s : nic_bytes_per_s;
}

NodePaths find_node_paths(const Node& node, const Stack& stack) { return NodeInside(node, stack).take(); }

}  // namespace auspex
