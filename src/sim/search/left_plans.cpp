/// @file Shape by shape of the parts that are not done.
#include "sim/search/left_plans.hpp"

#include <algorithm>
#include <limits>

#include "sim/search/space/grids.hpp"

namespace auspex::search {

LeftPlans left_plans(SearchBoard& board, const PlanSpace& space, const std::vector<Grid>& grids, double limit_s) {
    std::vector<double> floor_s(space.shapes().size(), 0);
    for (const Grid& grid : grids) {
        for (const Bounded& shape : grid) {
            floor_s[shape.number] = shape.bound_s;
        }
    }
    LeftPlans left{.untried = 0, .least_bound_s = std::numeric_limits<double>::infinity()};
    const std::vector<std::size_t> firsts = first_shapes_of_grids(space);
    for (std::size_t g = 0; g + 1 < firsts.size(); ++g) {
        if (board.is_finished(firsts[g])) {
            continue;
        }
        for (std::size_t shape = firsts[g]; shape < firsts[g + 1]; ++shape) {
            const std::uint64_t first = space.first_plan(shape), end = space.first_plan(shape + 1);
            const std::uint64_t untried = end - first - board.known_between(first, end).size();
            if (floor_s[shape] <= limit_s && untried > 0) {
                left.untried += untried;
                left.least_bound_s = std::min(left.least_bound_s, floor_s[shape]);
            }
        }
    }
    left.least_bound_s = left.untried > 0 ? left.least_bound_s : 0;
    return left;
}

}  // namespace auspex::search
