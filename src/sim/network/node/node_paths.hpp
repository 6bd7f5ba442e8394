#pragma once
/// @file The inside of one node: its links, and which of them a flow takes between two tiles or from a tile to the
/// wire.
#include <cstdint>
#include <string>
#include <vector>

#include "models/machine.hpp"
#include "models/stack.hpp"
#include "sim/network/node/link_kind.hpp"

namespace auspex::network {

/// What a link of the node joins. The NICs of a socket hang on one PCIe switch.
enum class PartKind : std::uint8_t {
    kTile,
    kCard,
    kNodeSwitch,
    kSocket,
    kHostMemory,
    kSocketNics,
    kNic,
    kWire,
    kRank,
    kTransport
};

struct NodePart {
    PartKind kind;
    int index = 0;
    auto operator<=>(const NodePart&) const = default;
};
/// "card 2", "NICs of socket 0", "wire".
[[nodiscard]] std::string to_string(const NodePart& part);

/// One link of the node, one direction, as every node of the job has it, or a bound of both directions together.
struct NodeSlot {
    LinkKind kind;
    double bytes_per_s;
    NodePart from, to;
};

/// Slots are indices into `slots`.
struct NodePaths {
    std::vector<NodeSlot> slots;
    std::vector<std::vector<std::uint32_t>> between;  ///< [from tile * tiles + to tile]
    std::vector<std::vector<std::uint32_t>> out, in;  ///< [tile]: to the wire of the tile's NIC, and from it
    /// [from tile * tiles + to tile]: from process to process through the host, without a NIC; as `out` and `in` begin
    /// and end. Empty where NICs hang on the device.
    std::vector<std::vector<std::uint32_t>> by_host;
    /// [tile]: copies between the tile and its socket. Where buffers are copied beforehand (Staging::kWhole) `out` and
    /// `in` begin and end in host memory.
    std::vector<std::vector<std::uint32_t>> to_host, from_host;
    std::vector<std::vector<std::uint32_t>>
        in_host;  ///< [tile]: the memory of its socket; empty unless Staging::kWhole
    /// The same slots on the same ways, whatever they carry.
    [[nodiscard]] bool routes_as(const NodePaths& other) const;
};

/// NIC that a tile sends and receives through: the machine's choice, else floor(tile * nics / tiles).
[[nodiscard]] int nic_of_tile(const models::Node& node, int tile);
/// Cards and NICs are dealt over the sockets in order.
[[nodiscard]] int socket_of_card(const models::Node& node, int card);
[[nodiscard]] int socket_of_nic(const models::Node& node, int nic);

/// Most that one rank moves between nodes, one direction: the stack's limit where NICs hang on the host, else its NIC.
[[nodiscard]] double transport_bytes_per_s(const models::Node& node, const models::Stack& stack);

/// Efficiencies of the stack are in the capacities. Between tiles of two cards that are joined by one link for each
/// tile, a flow takes the link of the sending tile, then the other card's pair link.
[[nodiscard]] NodePaths find_node_paths(const models::Node& node, const models::Stack& stack);

}  // namespace auspex::network
