#pragma once
/// @file The machine as links with capacity: tiles, cards, PCIe, NICs, switches, groups, and the route of a flow over
/// them.
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
    kLocal,         ///< between two switches of a dragonfly group; adaptive: what the minimal path lets a pair carry
    kLocalSpread,   ///< adaptive, Valiant: all local links of a switch together, out or in
    kGlobal,        ///< between two dragonfly groups; adaptive: what the minimal path lets a pair carry
    kGlobalSpread,  ///< adaptive, Valiant: all global links of a group together, out or in
    kGlobalPool,    ///< adaptive, Valiant: all global links of the machine: who detours by a third group takes two
    kLeafUplink,    ///< trees and rails: leaf to spines
    kPodUplink,     ///< three levels: pod to cores
};
inline constexpr std::size_t kLinkKinds = 14;
[[nodiscard]] const char* to_string(LinkKind kind);

inline constexpr std::uint32_t kNoLink = 0xffffffff;

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

/// What a flow takes between two nodes, NICs not counted.
struct Crossing {
    std::vector<Leg> legs;
    double latency_s = 0;  ///< NIC to NIC, switches included
    bool leaves_group = false;
};

/// Links of one job's nodes and of the groups they lie in, stack efficiencies applied to capacities.
///
/// Dragonfly, adaptive: the traffic T of a pair of groups fills the direct links (capacity C) first; the rest takes one
/// of the other groups on its way, evenly over all that they have left. At least the share p = minimal_bias stays on
/// the direct links, so T <= C / p: the capacity of the pair's kGlobal link. All of T leaves by the
/// group's links together (kGlobalSpread) and counts once, its detouring part twice, against those of the machine
/// (kGlobalPool); the detouring part is (T - C) / T at the rate the flow would have alone. The same with local links
/// inside a group. background_load takes its share of every global link. Minimal: every link by itself. Valiant: no
/// direct links; every flow between groups goes by a third one and counts twice against the machine's links.
///
/// Trees and rails: a leaf has uplinks of NICs x rate of their links (nic_wire.hpp) x taper, a pod those of its leaves
/// x pod_taper. Adaptive: each of these bundles is one link. Minimal: its links one by one; a flow takes the one with
/// the number (destination mod uplinks) up, and down again, where the destination is the number of its NIC in the tree,
/// or of its node in a rail.
///
/// Left out: the way between the switches of a third group, and of the groups at both ends to the switch where a link
/// to another group begins, other than minimal routing's.
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
    /// Copies of whole buffers between a tile and its host: none where Staging is kPipelined or NICs are on the device.
    [[nodiscard]] std::span<const std::uint32_t> slots_to_host(int tile) const;
    [[nodiscard]] std::span<const std::uint32_t> slots_from_host(int tile) const;
    /// Replaces what `crossing` holds. The nodes differ.
    void cross(int from_node, int from_tile, int to_node, int to_tile, Crossing& crossing) const;
    /// Number of the switch that a tile's NIC hangs on, among those of the job.
    [[nodiscard]] int attachment(int node, int tile) const;
    /// True if crossings depend on the two attachments alone; false where routing pins a flow to a link by its
    /// destination.
    [[nodiscard]] bool alike_by_attachment() const;
    /// C of an adaptive pair of groups (above) for its kGlobal link; 0 for every other link.
    [[nodiscard]] double minimal_capacity_bytes_per_s(std::uint32_t link) const;
    /// The kGlobalPool link; kNoLink if there is none.
    [[nodiscard]] std::uint32_t global_pool() const;
    /// The dragonfly group, leaf or unit of a node, as a number of the machine.
    [[nodiscard]] int block(int node) const;
    [[nodiscard]] int nodes() const;
    [[nodiscard]] int tiles_per_node() const;
    [[nodiscard]] double node_latency_s() const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace auspex
