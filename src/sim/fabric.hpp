#pragma once
/// @file The machine as links with capacity: tiles, cards, PCIe, NICs, switches, groups, and the route of a flow over
/// them.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/layout.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex {

/// What a link is; the report sums utilisation by kind. Every physical direction is a link of its own.
enum class LinkKind : std::uint8_t {
    kRankTransport,  ///< stack: what one rank's transport moves between nodes, out or in
    kPair,           ///< between the tiles of one card
    kMesh,           ///< between two cards of a node
    kSwitchPort,     ///< a tile's port to the node's switch
    kPcieCard,       ///< card to host
    kPcieSocket,     ///< a socket's PCIe switch
    kNic,
    kLocal,         ///< between two switches of a dragonfly group (minimal path)
    kLocalSpread,   ///< all local links of a switch together (non-minimal share)
    kGlobal,        ///< between two dragonfly groups (minimal path)
    kGlobalSpread,  ///< all global links of a group together (non-minimal share)
    kLeafUplink,    ///< fat tree
};
[[nodiscard]] const char* to_string(LinkKind kind);

/// One link on a route; `weight` is the share of the flow that takes it (less than 1 where routing splits the flow).
struct Leg {
    std::uint32_t link;
    double weight;
};

struct Route {
    std::vector<Leg> legs;
    double latency_s = 0;
    bool leaves_node = false;
    bool leaves_group = false;
};

/// What a flow takes between two nodes, NICs not counted: at most a minimal link and the spread ones at both ends.
struct Crossing {
    std::array<Leg, 6> legs;
    int count = 0;
    double latency_s = 0;  ///< NIC to NIC, switches included
    bool leaves_group = false;
};

/// Links of one job's nodes and the groups they lie in, stack efficiencies applied to capacities.
class Fabric {
 public:
    Fabric(const Machine& machine, const Stack& stack, const Layout& layout);
    ~Fabric();
    Fabric(Fabric&&) noexcept;
    [[nodiscard]] std::size_t link_count() const;
    [[nodiscard]] double capacity_bytes_per_s(std::uint32_t link) const;
    [[nodiscard]] std::span<const double> capacities_bytes_per_s() const;  ///< by link
    [[nodiscard]] LinkKind kind(std::uint32_t link) const;
    [[nodiscard]] std::string name(std::uint32_t link) const;
    /// Route from rank to rank. Same rank: no legs. Deterministic.
    [[nodiscard]] Route route(int from_rank, int to_rank) const;

    /// The same routes in parts, for those who add up many of them. Link of a node = first_link(node) + slot; every
    /// node has the same slots.
    [[nodiscard]] std::uint32_t first_link(int node) const;
    [[nodiscard]] std::span<const std::uint32_t> slots_between(int from_tile, int to_tile) const;
    [[nodiscard]] std::span<const std::uint32_t> slots_out(int tile) const;  ///< tile to the wire of its NIC
    [[nodiscard]] std::span<const std::uint32_t> slots_in(int tile) const;
    [[nodiscard]] Crossing crossing(int from_node, int to_node) const;
    /// Nodes with the same attachment hang on the same switch: crossings to and from them are alike.
    [[nodiscard]] int attachment(int node) const;
    [[nodiscard]] int tiles_per_node() const;
    [[nodiscard]] double node_latency_s() const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace auspex
