#pragma once
/// @file What a search that was cut has left of its space.
#include <cstdint>
#include <vector>

#include "sim/search/bounded_grids.hpp"

namespace auspex::search {

/// Plans of parts that are not done, without those that were played or found too large there, and without the shapes
/// whose floors say that they are not among the best.
struct LeftPlans {
    std::uint64_t untried = 0;
    double least_bound_s = 0;  ///< none of them takes less; 0: there are none, or some have no floor yet
};

/// `grids`: those that have floors. `limit_s`: no slower plan is among the best.
[[nodiscard]] LeftPlans left_plans(SearchBoard& board, const PlanSpace& space, const std::vector<Grid>& grids,
                                   double limit_s);

}  // namespace auspex::search
