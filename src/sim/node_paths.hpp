#pragma once
/// @file The inside of one node: its links, and which of them a flow takes between two tiles or from a tile to the
/// wire.
#include <cstdint>
#include <string>
#include <vector>

#include "models/machine.hpp"
#include "models/stack.hpp"
#include "sim/fabric.hpp"

namespace auspex {

/// One link of the node, as every node of the job has it; `from` and `to` say what it joins, for its name.
struct NodeSlot {
    LinkKind kind;
    double bytes_per_s;
    std::string from, to;
};

/// Slots are indices into `slots`.
struct NodePaths {
    std::vector<NodeSlot> slots;
    std::vector<std::vector<std::uint32_t>> between;  ///< [from tile * tiles + to tile]
    std::vector<std::vector<std::uint32_t>> out, in;  ///< [tile]: to the wire of the tile's NIC, and from it
};

/// Most that one rank moves between nodes, one direction: the stack's limit where NICs hang on the host, else its NIC.
[[nodiscard]] double transport_bytes_per_s(const Node& node, const Stack& stack);

/// Tile t sends through NIC floor(t * nics / tiles). Efficiencies of the stack are in the capacities.
[[nodiscard]] NodePaths find_node_paths(const Node& node, const Stack& stack);

}  // namespace auspex
