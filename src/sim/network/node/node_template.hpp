#pragma once
/// @file The parts of one node and what joins them, to be copied for every node of a machine.
#include <cstdint>
#include <vector>

#include "models/machine.hpp"
#include "sim/network/node/node_paths.hpp"

namespace auspex::network {

/// One direction between two parts. A passage joins parts of one unit (a card and its tiles): no link of its own.
struct TemplateLink {
    std::uint32_t from, to;  ///< index into parts
    LinkKind kind;
    bool is_internal;
    double bytes_per_s;
};

struct NodeTemplate {
    std::vector<NodePart> parts;  ///< tiles first, in order
    std::vector<TemplateLink> links;
    std::vector<std::uint32_t> nics;  ///< [NIC]: its index into parts
};

/// The links are those of find_node_paths without a stack, but for those to a host that no message passes; the wires of
/// the NICs are left to the network.
[[nodiscard]] NodeTemplate node_template(const models::Node& node);

}  // namespace auspex::network
