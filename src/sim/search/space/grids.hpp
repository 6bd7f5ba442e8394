#pragma once
/// @file The shapes of a space by the grid that they share, and plans by their numbers.
#include <vector>

#include "sim/search/space/plan_space.hpp"

namespace auspex::search {

/// True if the plans share a network.
[[nodiscard]] bool are_of_one_grid(const Candidate& a, const Candidate& b);
/// Index of the first shape of each grid, whose shapes share a network and follow one another; behind them the number
/// of shapes.
[[nodiscard]] std::vector<std::size_t> first_shapes_of_grids(const PlanSpace& space);
/// The shape of the plan with a number below space.size().
[[nodiscard]] std::size_t shape_of_plan(const PlanSpace& space, std::uint64_t number);
[[nodiscard]] Candidate plan_numbered(const PlanSpace& space, std::uint64_t number);

}  // namespace auspex::search
