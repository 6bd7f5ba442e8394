#pragma once
/// @file The whole machine as one graph: every tile, card, socket, NIC, switch, and every link by itself.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/machine.hpp"
#include "sim/network/fabric/fabric.hpp"

namespace auspex::network {

enum class VertexKind : std::uint8_t {
    kSwitch,  ///< of a dragonfly group, or a leaf
    kSpine,
    kCore,
    kTile,
    kCard,
    kNodeSwitch,
    kSocket,      ///< host memory
    kSocketNics,  ///< PCIe switch of a socket's NICs
    kNic,
};

struct GraphVertex {
    VertexKind kind = VertexKind::kSwitch;
    int node = -1;   ///< of what lies in a node
    int block = -1;  ///< of switches: dragonfly group, leaf or unit; -1: spines and cores
    int pod = -1;    ///< of leaves and spines; one pod with two levels
    int index = 0;   ///< among its kind in its node, block or pod
};

/// One direction.
struct GraphLink {
    std::uint32_t from = 0, to = 0;
    LinkKind kind = LinkKind::kNic;
    bool is_internal = false;  ///< joins two parts of a card or socket: no link of its own; kind and rate mean nothing
    double bytes_per_s = 0;
    double latency_s = 0;  ///< switch_latency where it enters a switch; half of the NIC's latency at both ends
};

/// A route by fewest links between groups, then fewest switches; in a node by fewest links.
struct GraphPath {
    std::vector<GraphLink> links;  ///< without passages
    int switches = 0;              ///< passed
};

/// Built from the machine file alone, with all nodes that a job may ask for. Rates are those of the wires, no stack.
///
/// Dragonfly: dragonfly.hpp says on which switch a link to another group lies; parallel links are links of their own.
/// Trees and rails: tree.hpp says which spine and core an uplink goes to; a spine or core has as many ports as it
/// needs.
class FabricGraph {
 public:
    /// Throws InputError for a machine of more than kMaxGraphLinks links.
    explicit FabricGraph(const models::Machine& machine);
    ~FabricGraph();
    FabricGraph(FabricGraph&&) noexcept;

    [[nodiscard]] const models::Machine& machine() const;
    [[nodiscard]] std::uint32_t vertex_count() const;
    [[nodiscard]] const GraphVertex& vertex(std::uint32_t number) const;
    /// Vertices below this number are switches, those of blocks first, then spines, then cores.
    [[nodiscard]] std::uint32_t switch_count() const;
    void for_each_link(const std::function<void(const GraphLink&)>& visit) const;
    /// Switches passed, both ends counted, from one switch to each other, on the way with the fewest links between
    /// groups (at most one is needed) and then the fewest switches. 1 for the switch itself; 0 where no way leads.
    [[nodiscard]] std::vector<int> switches_passed(std::uint32_t from) const;
    /// Shortest way from a tile through its NIC to a tile of another node.
    [[nodiscard]] GraphPath shortest_path(int from_node, int from_tile, int to_node, int to_tile) const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Of one direction: ten times those of the largest machine known, about a gigabyte.
inline constexpr double kMaxGraphLinks = 2e7;

}  // namespace auspex::network
