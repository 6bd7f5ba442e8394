/// @file A floor a shape.
#include "sim/search/bounded_grids.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>

namespace auspex::search {
namespace {

/// Two shapes of one grid share a network.
bool are_of_one_grid(const Candidate& a, const Candidate& b) {
    const auto grid = [](const Candidate& c) { return std::tie(c.dp, c.ep, c.etp, c.tp, c.cp, c.pp, c.rank_order); };
    return grid(a) == grid(b);
}

}  // namespace

std::vector<Grid> bounded_grids(const models::Inputs& inputs, const PlanSpace& space,
                                const std::function<LayerCostTable&()>& table,
                                const std::function<bool()>& has_to_stop) {
    const std::vector<Candidate>& shapes = space.shapes();
    std::vector<std::size_t> firsts;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (i == 0 || !are_of_one_grid(shapes[i - 1], shapes[i])) {
            firsts.push_back(i);
        }
    }
    firsts.push_back(shapes.size());
    std::vector<Grid> grids(firsts.size() - 1);
    tbb::parallel_for(std::size_t{0}, grids.size(), [&](std::size_t g) {
        GridFloor floor(inputs, table(), shapes[firsts[g]]);
        for (std::size_t i = firsts[g]; i < firsts[g + 1] && !has_to_stop(); ++i) {
            grids[g].push_back({floor.of_any(space, i), i, shapes[i]});
        }
        std::sort(grids[g].begin(), grids[g].end());
    });
    std::erase_if(grids, [](const Grid& grid) { return grid.empty(); });
    std::ranges::sort(grids, {}, [](const Grid& grid) { return std::pair(grid.front().bound_s, grid.front().number); });
    return grids;
}

OpenPart part_of(const Grid& grid, const PlanSpace& space) {
    const auto [first, last] = std::ranges::minmax(grid, {}, &Bounded::number);
    return {first.number, space.first_plan(first.number), space.first_plan(last.number + 1)};
}

}  // namespace auspex::search
