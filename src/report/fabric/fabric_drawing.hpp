#pragma once
/// @file A picture of a machine: the inside of one node beside the network.
#include <string>

#include "sim/network/fabric/fabric_totals.hpp"

namespace auspex::report {

/// Inline SVG. A small network is drawn whole, link by link (parallel ones as one line); of a large one the first
/// switches of each kind, and how many there are in all.
[[nodiscard]] std::string fabric_drawing(const network::FabricGraph& graph, const network::FabricTotals& totals);

}  // namespace auspex::report
