#pragma once
/// @file The links on which communications of ranks can slow one another.
#include <span>
#include <vector>

#include "sim/engine/costed_program.hpp"
#include "sim/network/collective/network.hpp"
#include "sim/network/sharing/max_min.hpp"

namespace auspex::predict {

/// What patterns put on the links on which they can slow one another, and these links, with numbers of their own. Of
/// links that carry the same loads of the same patterns one is there, the one with least capacity: it is the first
/// that fills. A ring over a thousand nodes loads links that nobody else uses alike on all of them.
struct SharedLinks {
    std::vector<double> capacities;                     ///< in bytes/s, factors applied
    std::vector<std::vector<network::LinkLoad>> loads;  ///< by pattern; empty: meets nobody
};

/// Of a program costed by rank (Grain::kRanks) with the patterns of this network, which lists all links. `factors`: on
/// the capacity of each link; empty: 1.
[[nodiscard]] SharedLinks find_shared_links(const engine::CostedProgram& costed, const network::Network& network,
                                            std::span<const double> factors);

}  // namespace auspex::predict
