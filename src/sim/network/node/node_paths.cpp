/// @file One node as a graph of tiles, cards, sockets and NICs; paths by fewest links.
#include "sim/network/node/node_paths.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <map>
#include <utility>

#include "base/error.hpp"

namespace auspex::network {
namespace {

constexpr std::uint32_t kNoSlot = 0xffffffff;

struct Hop {
    std::uint32_t slot;  ///< kNoSlot: a passage without capacity of its own
    double cost;         ///< routes take the fewest links; crossing sockets is the last resort
};
using NodeGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Hop>;
using Vertex = boost::graph_traits<NodeGraph>::vertex_descriptor;
using Vertices = std::vector<Vertex>;
using Path = std::vector<std::uint32_t>;

int cards_of(const models::Node& node) { return std::max(1, node.tiles / node.tiles_per_card); }
std::size_t at(int index) { return static_cast<std::size_t>(index); }
bool stages_whole(const models::Node& node, const models::Stack& stack) {
    return node.nic_attachment == models::NicAttachment::kHost && stack.staging == models::Staging::kWhole;
}

/// Paths in one node, found once. Tiles, cards and hosts have a vertex for each direction, so that no path turns round
/// in them; what came over a mesh link has landed on a tile, and may go on to another tile of that card only.
class NodeInside {
 public:
    NodeInside(const models::Node& node, const models::Stack& stack);
    [[nodiscard]] NodePaths take() { return std::move(paths_); }

 private:
    Vertices add_vertices(int count);
    std::uint32_t add_slot(LinkKind kind, double bytes_per_s, NodePart from, NodePart to);
    void bind_both_ways(LinkKind kind, double bytes_per_s, std::uint32_t there, std::uint32_t back);
    void bind_tiles_both_ways(double bytes_per_s);
    void join(Vertex from, Vertex to, std::uint32_t slot, double cost = 1);
    void add_cards(double efficiency);
    void add_mesh(double efficiency);
    void add_node_switch(double efficiency);
    void add_host(double efficiency);
    void add_host_memory(double efficiency);
    void add_nics(double efficiency);
    void find_paths(const models::Stack& stack);
    void find_paths_out(int tile, const models::Stack& stack);
    void find_paths_by_host(const models::Stack& stack);
    [[nodiscard]] Path path(Vertex from, Vertex to) const;
    [[nodiscard]] int card_of(int tile) const { return tile / node_.tiles_per_card; }

    const models::Node& node_;
    int cards_;
    NodePaths paths_;
    NodeGraph graph_;
    std::map<std::uint32_t, std::uint32_t> both_ways_;  ///< of a slot: that which it shares with its reverse
    Vertices tile_out_, tile_landed_, tile_in_, card_out_, card_in_, hub_out_, hub_in_, nic_out_, nic_in_;
};

Vertices NodeInside::add_vertices(int count) {
    Vertices vertices;
    for (int i = 0; i < count; ++i) {
        vertices.push_back(add_vertex(graph_));
    }
    return vertices;
}

std::uint32_t NodeInside::add_slot(LinkKind kind, double bytes_per_s, NodePart from, NodePart to) {
    paths_.slots.push_back({kind, bytes_per_s, from, to});
    return static_cast<std::uint32_t>(paths_.slots.size() - 1);
}

/// The slots of a link's two directions get one more together, where `bytes_per_s` is a bound.
void NodeInside::bind_both_ways(LinkKind kind, double bytes_per_s, std::uint32_t there, std::uint32_t back) {
    if (bytes_per_s > 0) {
        const NodeSlot link = paths_.slots[there];
        both_ways_[there] = both_ways_[back] = add_slot(kind, bytes_per_s, link.from, link.to);
    }
}

/// Whatever links join their cards.
void NodeInside::bind_tiles_both_ways(double bytes_per_s) {
    for (int t = 0; bytes_per_s > 0 && t < node_.tiles; ++t) {
        for (int u = t + 1; u < node_.tiles; ++u) {
            if (card_of(t) != card_of(u)) {
                const std::uint32_t both =
                    add_slot(LinkKind::kMeshBothWays, bytes_per_s, {PartKind::kTile, t}, {PartKind::kTile, u});
                paths_.between[at(t * node_.tiles + u)].push_back(both);
                paths_.between[at(u * node_.tiles + t)].push_back(both);
            }
        }
    }
}

void NodeInside::join(Vertex from, Vertex to, std::uint32_t slot, double cost) {
    add_edge(from, to, Hop{slot, cost}, graph_);
}

NodeInside::NodeInside(const models::Node& node, const models::Stack& stack) : node_(node), cards_(cards_of(node)) {
    tile_out_ = add_vertices(node.tiles);
    tile_landed_ = add_vertices(node.tiles);
    tile_in_ = add_vertices(node.tiles);
    card_out_ = add_vertices(cards_);
    card_in_ = add_vertices(cards_);
    hub_out_ = add_vertices(node.sockets);
    hub_in_ = add_vertices(node.sockets);
    nic_out_ = add_vertices(node.nics);
    nic_in_ = add_vertices(node.nics);
    add_cards(stack.scale_up_efficiency);
    if (node.scale_up == models::ScaleUpKind::kMeshOfPairs) {
        add_mesh(stack.scale_up_efficiency);
    } else {
        add_node_switch(stack.scale_up_efficiency);
    }
    // Copies to a host that carries no messages are made by copy engines, not by a transport.
    add_host(node.nic_attachment == models::NicAttachment::kHost ? stack.scale_up_efficiency : 1);
    add_nics(stack.scale_out_efficiency);
    find_paths(stack);
    paths_.in_host.resize(at(node.tiles));
    if (stages_whole(node, stack)) {
        add_host_memory(stack.scale_up_efficiency);
    }
}

void NodeInside::add_cards(double efficiency) {
    std::map<std::pair<int, int>, std::uint32_t> pairs;
    for (int t = 0; t < node_.tiles; ++t) {
        const int card = card_of(t), first = card * node_.tiles_per_card;
        join(tile_out_[at(t)], card_out_[at(card)], kNoSlot, 0);
        join(card_in_[at(card)], tile_in_[at(t)], kNoSlot, 0);
        join(tile_landed_[at(t)], tile_in_[at(t)], kNoSlot, 0);
        for (int u = first; u < first + node_.tiles_per_card; ++u) {
            if (u != t) {
                const std::uint32_t pair = add_slot(LinkKind::kPair, node_.pair_bytes_per_s * efficiency,
                                                    {PartKind::kTile, t}, {PartKind::kTile, u});
                join(tile_out_[at(t)], tile_in_[at(u)], pair);
                join(tile_landed_[at(t)], tile_in_[at(u)], pair);
                pairs[{t, u}] = pair;
            }
        }
    }
    for (const auto& [tiles, pair] : pairs) {
        if (tiles.first < tiles.second) {
            bind_both_ways(LinkKind::kPairBothWays, node_.pair_both_bytes_per_s * efficiency, pair,
                           pairs.at({tiles.second, tiles.first}));
        }
    }
}

/// One link joins the cards themselves; several join their tiles, first with first, second with second.
void NodeInside::add_mesh(double efficiency) {
    AUSPEX_CHECK(node_.mesh_links == 1 || node_.mesh_links == node_.tiles_per_card,
                 "cards are joined by one link or by one for each tile");
    const double rate = node_.mesh_bytes_per_s * efficiency;
    for (int c = 0; c < cards_; ++c) {
        for (int d = 0; d < cards_; ++d) {
            if (c == d) {
                continue;
            }
            if (node_.mesh_links == 1) {
                join(card_out_[at(c)], card_in_[at(d)],
                     add_slot(LinkKind::kMesh, rate, {PartKind::kCard, c}, {PartKind::kCard, d}));
                continue;
            }
            for (int i = 0; i < node_.mesh_links; ++i) {
                const int from = c * node_.tiles_per_card + i, to = d * node_.tiles_per_card + i;
                join(tile_out_[at(from)], tile_landed_[at(to)],
                     add_slot(LinkKind::kMesh, rate, {PartKind::kTile, from}, {PartKind::kTile, to}));
            }
        }
    }
}

void NodeInside::add_node_switch(double efficiency) {
    const Vertex crossbar = add_vertex(graph_);
    const double rate = node_.switch_bytes_per_s * efficiency;
    for (int t = 0; t < node_.tiles; ++t) {
        const NodePart tile{PartKind::kTile, t}, node_switch{PartKind::kNodeSwitch};
        join(tile_out_[at(t)], crossbar, add_slot(LinkKind::kSwitchPort, rate, tile, node_switch));
        join(crossbar, tile_in_[at(t)], add_slot(LinkKind::kSwitchPort, rate, node_switch, tile));
    }
}

/// Card to its socket, then everything of the socket through one PCIe switch to the hub where the socket's NICs are.
void NodeInside::add_host(double efficiency) {
    const Vertices host_out = add_vertices(node_.sockets), host_in = add_vertices(node_.sockets);
    for (int c = 0; c < cards_; ++c) {
        const int s = socket_of_card(node_, c);
        const NodePart card{PartKind::kCard, c}, socket{PartKind::kSocket, s};
        const double rate = node_.pcie_bytes_per_s * efficiency;
        const std::uint32_t out = add_slot(LinkKind::kPcieCard, rate, card, socket);
        const std::uint32_t in = add_slot(LinkKind::kPcieCard, rate, socket, card);
        join(card_out_[at(c)], host_out[at(s)], out);
        join(host_in[at(s)], card_in_[at(c)], in);
        bind_both_ways(LinkKind::kPcieBothWays, node_.pcie_both_bytes_per_s * efficiency, out, in);
    }
    for (int s = 0; s < node_.sockets; ++s) {
        const NodePart socket{PartKind::kSocket, s}, hub{PartKind::kSocketNics, s};
        join(host_out[at(s)], hub_out_[at(s)],
             add_slot(LinkKind::kPcieSocket, node_.socket_out_bytes_per_s * efficiency, socket, hub));
        join(hub_in_[at(s)], host_in[at(s)],
             add_slot(LinkKind::kPcieSocket, node_.socket_in_bytes_per_s * efficiency, hub, socket));
        for (int other = 0; other < node_.sockets; ++other) {
            if (other != s) {
                join(hub_out_[at(s)], hub_out_[at(other)], kNoSlot, node_.tiles + node_.nics);
                join(hub_in_[at(s)], hub_in_[at(other)], kNoSlot, node_.tiles + node_.nics);
            }
        }
    }
}

/// No path leads through it: it is loaded by ranks that work on buffers in host memory.
void NodeInside::add_host_memory(double efficiency) {
    for (int s = 0; s < node_.sockets; ++s) {
        const std::uint32_t memory = add_slot(LinkKind::kHostMemory, node_.host_memory_bytes_per_s * efficiency,
                                              {PartKind::kSocket, s}, {PartKind::kHostMemory, s});
        for (int t = 0; t < node_.tiles; ++t) {
            if (socket_of_card(node_, card_of(t)) == s) {
                paths_.in_host[at(t)].push_back(memory);
            }
        }
    }
}

void NodeInside::add_nics(double efficiency) {
    const double rate = node_.nic_bytes_per_s * efficiency;
    for (int n = 0; n < node_.nics; ++n) {
        const NodePart nic{PartKind::kNic, n}, wire{PartKind::kWire, n};
        const std::uint32_t send = add_slot(LinkKind::kNic, rate, nic, wire);
        const std::uint32_t receive = add_slot(LinkKind::kNic, rate, wire, nic);
        if (node_.nic_attachment == models::NicAttachment::kHost) {
            const int socket = socket_of_nic(node_, n);
            join(hub_out_[at(socket)], nic_out_[at(n)], send);
            join(nic_in_[at(n)], hub_in_[at(socket)], receive);
            continue;
        }
        for (int t = 0; t < node_.tiles; ++t) {
            if (nic_of_tile(node_, t) == n) {
                join(tile_out_[at(t)], nic_out_[at(n)], send);
                join(nic_in_[at(n)], tile_in_[at(t)], receive);
            }
        }
    }
}

Path NodeInside::path(Vertex from, Vertex to) const {
    Vertices previous(num_vertices(graph_));
    boost::dijkstra_shortest_paths(graph_, from,
                                   boost::weight_map(get(&Hop::cost, graph_)).predecessor_map(previous.data()));
    Path taken;
    for (Vertex v = to; v != from; v = previous[v]) {
        AUSPEX_CHECK(previous[v] != v, "every tile reaches every other tile and its NIC");
        const std::uint32_t slot = graph_[edge(previous[v], v, graph_).first].slot;
        if (slot != kNoSlot) {
            taken.push_back(slot);
        }
    }
    std::reverse(taken.begin(), taken.end());
    for (std::size_t i = 0, links = taken.size(); i < links; ++i) {
        if (const auto both = both_ways_.find(taken[i]); both != both_ways_.end()) {
            taken.push_back(both->second);
        }
    }
    return taken;
}

void NodeInside::find_paths(const models::Stack& stack) {
    for (int t = 0; t < node_.tiles; ++t) {
        for (int u = 0; u < node_.tiles; ++u) {
            paths_.between.push_back(t == u ? Path{} : path(tile_out_[at(t)], tile_in_[at(u)]));
        }
        find_paths_out(t, stack);
    }
    if (node_.nic_attachment == models::NicAttachment::kHost) {
        find_paths_by_host(stack);
    }
    bind_tiles_both_ways(node_.mesh_both_bytes_per_s * stack.scale_up_efficiency);
}

void NodeInside::find_paths_out(int tile, const models::Stack& stack) {
    const auto nic = at(nic_of_tile(node_, tile));
    Vertex begin = tile_out_[at(tile)], end = tile_in_[at(tile)];
    const auto socket = at(socket_of_card(node_, card_of(tile)));
    paths_.to_host.push_back(path(begin, hub_out_[socket]));
    paths_.from_host.push_back(path(hub_in_[socket], end));
    if (stages_whole(node_, stack)) {
        begin = hub_out_[socket];
        end = hub_in_[socket];
    }
    Path out = path(begin, nic_out_[nic]), in = path(nic_in_[nic], end);
    // The transport belongs to the rank, not to a wire of the graph: flows inside the node do not use it.
    const NodePart rank{PartKind::kRank, tile}, transport{PartKind::kTransport};
    const double rate = transport_bytes_per_s(node_, stack);
    out.insert(out.begin(), add_slot(LinkKind::kRankTransport, rate, rank, transport));
    in.push_back(add_slot(LinkKind::kRankTransport, rate, transport, rank));
    paths_.out.push_back(std::move(out));
    paths_.in.push_back(std::move(in));
}

/// Requires the paths out of the node: a rank's transport is the same.
void NodeInside::find_paths_by_host(const models::Stack& stack) {
    const auto append = [](const Path& more, Path& path) { path.insert(path.end(), more.begin(), more.end()); };
    for (int from = 0; from < node_.tiles; ++from) {
        for (int to = 0; to < node_.tiles; ++to) {
            Path& way = paths_.by_host.emplace_back();
            if (from == to) {
                continue;
            }
            way.push_back(paths_.out[at(from)].front());
            if (!stages_whole(node_, stack)) {
                append(path(tile_out_[at(from)], hub_out_[at(socket_of_card(node_, card_of(from)))]), way);
                append(path(hub_in_[at(socket_of_card(node_, card_of(to)))], tile_in_[at(to)]), way);
            }
            way.push_back(paths_.in[at(to)].back());
        }
    }
}

}  // namespace

bool NodePaths::routes_as(const NodePaths& other) const {
    return between == other.between && out == other.out && in == other.in && by_host == other.by_host &&
           to_host == other.to_host && from_host == other.from_host && in_host == other.in_host &&
           std::equal(slots.begin(), slots.end(), other.slots.begin(), other.slots.end(),
                      [](const NodeSlot& a, const NodeSlot& b) { return a.kind == b.kind; });
}

std::string to_string(const NodePart& part) {
    const auto numbered = [&](const char* what) { return what + std::to_string(part.index); };
    switch (part.kind) {
        case PartKind::kTile: return numbered("tile ");
        case PartKind::kCard: return numbered("card ");
        case PartKind::kNodeSwitch: return "node switch";
        case PartKind::kSocket: return numbered("socket ");
        case PartKind::kHostMemory: return numbered("memory of socket ");
        case PartKind::kSocketNics: return numbered("NICs of socket ");
        case PartKind::kNic: return numbered("NIC ");
        case PartKind::kWire: return "wire";
        case PartKind::kRank: return numbered("rank of tile ");
        case PartKind::kTransport: return "transport";
    }
    return "unknown";
}

int nic_of_tile(const models::Node& node, int tile) {
    return node.nic_of_tile.empty() ? tile * node.nics / node.tiles : node.nic_of_tile[static_cast<std::size_t>(tile)];
}
int socket_of_card(const models::Node& node, int card) { return card * node.sockets / cards_of(node); }
int socket_of_nic(const models::Node& node, int nic) { return nic * node.sockets / node.nics; }

double transport_bytes_per_s(const models::Node& node, const models::Stack& stack) {
    const double nic_bytes_per_s = node.nic_bytes_per_s * stack.scale_out_efficiency;
    return node.nic_attachment == models::NicAttachment::kHost ? stack.rank_bytes_per_s : nic_bytes_per_s;
}

NodePaths find_node_paths(const models::Node& node, const models::Stack& stack) {
    return NodeInside(node, stack).take();
}

}  // namespace auspex::network
