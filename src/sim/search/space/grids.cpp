/// @file Runs of shapes, and a bisection.
#include "sim/search/space/grids.hpp"

#include <tuple>

namespace auspex::search {
bool are_of_one_grid(const Candidate& a, const Candidate& b) {
    const auto grid = [](const Candidate& c) { return std::tie(c.dp, c.ep, c.etp, c.tp, c.cp, c.pp, c.rank_order); };
    return grid(a) == grid(b);
}

std::vector<std::size_t> first_shapes_of_grids(const PlanSpace& space) {
    const std::vector<Candidate>& shapes = space.shapes();
    std::vector<std::size_t> firsts;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (i == 0 || !are_of_one_grid(shapes[i - 1], shapes[i])) {
            firsts.push_back(i);
        }
    }
    firsts.push_back(shapes.size());
    return firsts;
}

std::size_t shape_of_plan(const PlanSpace& space, std::uint64_t number) {
    std::size_t low = 0, high = space.shapes().size();
    while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        (space.first_plan(middle) <= number ? low : high) = middle;
    }
    return low;
}

Candidate plan_numbered(const PlanSpace& space, std::uint64_t number) {
    const std::size_t shape = shape_of_plan(space, number);
    return space.plans_of(shape)[number - space.first_plan(shape)];
}

}  // namespace auspex::search
