#pragma once
/// @file Where the best of many settings stands at the edge of what was searched.
#include <string>
#include <vector>

#include "report/campaign/campaign_optimum.hpp"

namespace auspex::cli {

/// A word of --optimise with its values, rising.
struct Varied {
    std::string what;
    std::vector<double> values;
};

/// Of words whose best value is the least or the most of those in `words`, if what was given is no further out. No edge
/// is where nothing lies beyond: no spare nodes, one node, and as many as there are (`most_nodes`; 0: not known).
[[nodiscard]] std::vector<report::SearchEdge> edges_of(const report::OptimumPoint& best,
                                                       const report::OptimumPoint& given,
                                                       const std::vector<Varied>& words, int most_nodes);

}  // namespace auspex::cli
