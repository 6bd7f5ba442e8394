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
#include "sim/network/fabric/route.hpp"
#include "sim/network/node/link_kind.hpp"
#include "sim/network/sharing/alike_blocks.hpp"

namespace auspex::network {

/// Links of one job's nodes and of the groups they lie in, stack efficiencies applied to capacities.
///
/// Dragonfly, adaptive: the traffic T of a pair of groups fills the direct links (capacity C) first; the rest takes one
/// of the other G - 2 groups on its way, evenly over all that they have left: T <= (G - 1) C, the capacity of the
/// pair's kGlobal link. All of T leaves by the group's links together (kGlobalSpread) and counts once, its detouring
/// part T - C twice, against those of the machine (kGlobalPool). A router detours once packets wait detour_delay longer
/// on the direct links than elsewhere: where T > C, some packets of every message wait so long, and the message with
/// them. The same between the switches of a group with its local links (kLocal, kLocalSpread, kLocalPool) and
/// local_detour_delay.
/// Minimal: every link by itself. Valiant: by way of a third of G groups and, inside a group, of a third of its a
/// switches; all of T counts twice against the pool, and the direct links of the pair are not used: T <= (G - 2) C,
/// the capacity of its kGlobal link, and (a - 2) C of its kLocal link. With a = 2 there is no third switch, and the
/// direct links serve. Between groups a flow takes, at each end, one local link of the pool to or from the switch where
/// the global link begins, unless it hangs there itself: (a - 1) / a on average. background_load takes its share of
/// every global link.
///
/// Trees and rails: a leaf has uplinks of NICs x rate of their links (nic_wire.hpp) x taper, a pod those of its leaves
/// x pod_taper. Adaptive: each of these bundles is one link. Minimal: its links one by one; a flow takes those that its
/// destination pins it to (tree.hpp).
///
/// Left out: the way between the switches of a third group, and which switch of the groups at both ends a link to
/// another group begins at, other than minimal routing's: it counts in the kLocalPool only.
class Fabric {
 public:
    Fabric(const models::Machine& machine, const models::Stack& stack, const models::Layout& layout);
    ~Fabric();
    Fabric(Fabric&&) noexcept;
    [[nodiscard]] std::size_t link_count() const;
    [[nodiscard]] double capacity_bytes_per_s(std::uint32_t link) const;
    [[nodiscard]] LinkKind kind(std::uint32_t link) const;
    [[nodiscard]] std::string name(std::uint32_t link) const;
    /// Route from rank to rank. Same rank: no legs. Deterministic.
    [[nodiscard]] Route route(int from_rank, int to_rank) const;

    /// The same routes in parts, for those who add up many of them. Link of a node = first_link(node) + slot; every
    /// node has the same slots. Links between nodes come after those of all nodes: from first_link(nodes()) on.
    [[nodiscard]] std::uint32_t links_per_node() const;
    [[nodiscard]] std::uint32_t first_link(int node) const;
    [[nodiscard]] std::span<const std::uint32_t> slots_between(int from_tile, int to_tile) const;
    /// Through the host, from process to process. Requires NICs on the host.
    [[nodiscard]] std::span<const std::uint32_t> slots_by_host(int from_tile, int to_tile) const;
    [[nodiscard]] bool has_ways_by_host() const;
    [[nodiscard]] std::span<const std::uint32_t> slots_out(int tile) const;  ///< tile to the wire of its NIC
    [[nodiscard]] std::span<const std::uint32_t> slots_in(int tile) const;
    /// Copies of whole buffers between a tile and its host.
    [[nodiscard]] std::span<const std::uint32_t> slots_to_host(int tile) const;
    [[nodiscard]] std::span<const std::uint32_t> slots_from_host(int tile) const;
    /// The memory of the tile's socket; none where Staging is kPipelined or NICs are on the device.
    [[nodiscard]] std::span<const std::uint32_t> slots_in_host(int tile) const;
    /// Replaces what `crossing` holds. The nodes differ.
    void route_between_nodes(int from_node, int from_tile, int to_node, int to_tile, InterNodeRoute& crossing) const;
    /// True if route_exchange() may be asked: flows spread over the links of groups as a whole, in parts that add up
    /// without rounding.
    [[nodiscard]] bool sums_exchanges() const;
    /// What all flows between nodes carry together where each of the members sends to every other, given how many there
    /// are on each switch (by attachment); the links that all flows load, with repeats, and the slowest latency.
    /// `everywhere`: in all groups; else only in the first of those with the same members on their switches.
    void route_exchange(std::span<const double> members, bool everywhere, InterNodeRoute& crossings) const;
    /// Number of the switch that a tile's NIC hangs on, among those of the job.
    [[nodiscard]] int attachment(int node, int tile) const;
    /// True if crossings depend on the two attachments alone; false where routing pins a flow to a link by its
    /// destination.
    [[nodiscard]] bool depends_on_attachment_only() const;
    /// By rising links; none but under adaptive routing.
    [[nodiscard]] std::span<const DetourLinks> detours() const;
    /// What to know of blocks (dragonfly groups) where one stands for all.
    [[nodiscard]] const AlikeBlocks& alike_blocks() const;
    /// The dragonfly group, leaf or unit of a node, as a number of the machine.
    [[nodiscard]] int block(int node) const;
    [[nodiscard]] int block_count() const;  ///< blocks that hold a node of the job
    [[nodiscard]] int nodes() const;
    [[nodiscard]] int tiles_per_node() const;
    [[nodiscard]] double node_latency_s() const;
    /// What packets wait longer on full direct links before the next ones detour.
    [[nodiscard]] double detour_delay_s(DetourLevel level) const;
    /// What one rank's transport moves between nodes: that of the NIC where this hangs on the device.
    [[nodiscard]] double rank_bytes_per_s() const;
    [[nodiscard]] double rank_window_bytes() const;
    /// True if the two, of jobs on the same nodes, have the same links and routes: they differ in capacities and
    /// latencies only.
    [[nodiscard]] bool routes_as(const Fabric& other) const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace auspex::network
