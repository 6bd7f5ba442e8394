/// @file A floor a shape.
#include "sim/search/bounded_grids.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/search/space/grids.hpp"

namespace auspex::search {
std::vector<Grid> bounded_grids(const models::Inputs& inputs, const PlanSpace& space,
                                const std::function<LayerCostTable&()>& table,
                                const std::function<bool()>& has_to_stop) {
    const std::vector<Candidate>& shapes = space.shapes();
    const std::vector<std::size_t> firsts = first_shapes_of_grids(space);
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

std::optional<Bounded> smallest_shape(const models::Inputs& inputs, const PlanSpace& space,
                                      const std::vector<Grid>& grids, LayerCostTable& table) {
    std::optional<Bounded> smallest;
    std::pair<double, int> least{std::numeric_limits<double>::infinity(), 0};
    for (const Grid& grid : grids) {
        GridFloor floor(inputs, table, grid.front().plan);
        for (const Bounded& shape : grid) {
            const std::pair size{floor.memory_bytes(space.plans_of(shape.number).front()), shape.plan.micro_batch_size};
            if (size < least) {
                smallest = shape;
                least = size;
            }
        }
    }
    return smallest;
}

std::vector<Bounded> bounded_plans(const PlanSpace& space, const Bounded& shape, GridFloor& floor, double most_bytes) {
    std::vector<Bounded> plans;
    std::uint64_t number = space.first_plan(shape.number);
    for (const Candidate& plan : space.plans_of(shape.number)) {
        if (floor.memory_bytes(plan) <= most_bytes) {
            plans.push_back({floor.of(plan), number, plan});
        }
        ++number;
    }
    return plans;
}

OpenPart part_of(const Grid& grid, const PlanSpace& space) {
    const auto [first, last] = std::ranges::minmax(grid, {}, &Bounded::number);
    return {first.number, space.first_plan(first.number), space.first_plan(last.number + 1)};
}

}  // namespace auspex::search
