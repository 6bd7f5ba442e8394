/// @file Other batches and sizes, one after the other; shapes by their weights.
#include "sim/search/answers/nearest.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "sim/search/bounds/grid_lenses.hpp"
#include "sim/search/space/grids.hpp"

namespace auspex::search {
namespace {

constexpr std::size_t kShapes = 8;
constexpr int kFarthestTiles = 4096, kSizes = 64;

/// The number nearest to `from` in [1, most] for which it holds, the smaller of two.
template <class Holds>
std::optional<int> nearest(int from, int most, int farthest, const Holds& holds) {
    for (int distance = 1; distance <= farthest; ++distance) {
        for (const int number : {from - distance, from + distance}) {
            if (number >= 1 && number <= most && holds(number)) {
                return number;
            }
        }
    }
    return std::nullopt;
}

/// Shapes with the least that their plans need, the lowest first.
std::vector<std::size_t> smallest_shapes(const models::Inputs& inputs, const PlanSpace& space) {
    LayerCostTable table(inputs);
    std::vector<std::tuple<double, int, std::size_t>> shapes;
    std::optional<GridFloor> floor;
    for (std::size_t shape = 0; shape < space.shapes().size(); ++shape) {
        const Candidate& like = space.shapes()[shape];
        if (!floor || !are_of_one_grid(like, space.shapes()[shape - 1])) {
            floor.emplace(inputs, table, like);
        }
        shapes.emplace_back(floor->memory_bytes(space.plans_of(shape).back()), like.micro_batch_size, shape);
    }
    std::ranges::sort(shapes);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < std::min(shapes.size(), kShapes); ++i) {
        found.push_back(std::get<2>(shapes[i]));
    }
    return found;
}

/// The plan of least memory, without regard to overlap.
EvaluatedPlan least_of_shape(const models::Inputs& inputs, const PlanSpace& space, std::size_t shape) {
    LayerCostTable table(inputs);
    GridMemory memory(inputs, table, space.shapes()[shape]);
    EvaluatedPlan least;
    least.memory_peak_bytes = std::numeric_limits<double>::infinity();
    std::uint64_t number = space.first_plan(shape);
    const std::vector<Candidate> all = space.plans_of(shape);
    for (const Candidate& plan : all) {
        if (plan.overlap == all.front().overlap) {
            const double bytes = memory.peak_bytes(plan, least.memory_peak_bytes);
            if (bytes < least.memory_peak_bytes) {
                least.candidate = plan, least.index = number, least.memory_peak_bytes = bytes;
            }
        }
        ++number;
    }
    return least;
}

}  // namespace

int most_tiles(const models::Machine& machine) { return machine.fabric.max_nodes * machine.node.tiles; }

bool has_plans(const models::Inputs& inputs, const SpaceRequest& request) {
    return PlanSpace(inputs, request).size() > 0;
}

std::optional<int> nearest_batch(const models::Inputs& inputs, const SpaceRequest& request) {
    return nearest(request.global_batch, request.global_batch + request.tiles, request.tiles, [&](int batch) {
        SpaceRequest other = request;
        other.global_batch = batch;
        return has_plans(inputs, other);
    });
}

std::optional<int> nearest_tiles(const models::Inputs& inputs, const SpaceRequest& request, int unit) {
    const std::optional<int> units =
        nearest(request.tiles / unit, most_tiles(inputs.machine) / unit, kFarthestTiles / unit, [&](int count) {
            SpaceRequest other = request;
            other.tiles = count * unit;
            return has_plans(inputs, other);
        });
    return units ? std::optional(*units * unit) : std::nullopt;
}

std::optional<EvaluatedPlan> least_memory_plan(const models::Inputs& inputs, const SpaceRequest& request) {
    const PlanSpace space(inputs, request);
    const std::vector<std::size_t> shapes = smallest_shapes(inputs, space);
    std::vector<EvaluatedPlan> smallest(shapes.size());
    tbb::parallel_for(std::size_t{0}, shapes.size(),
                      [&](std::size_t i) { smallest[i] = least_of_shape(inputs, space, shapes[i]); });
    const auto least = std::ranges::min_element(
        smallest, {}, [](const EvaluatedPlan& plan) { return std::pair(plan.memory_peak_bytes, plan.index); });
    return least == smallest.end() ? std::nullopt : std::optional(*least);
}

std::optional<int> nearest_tiles_that_fit(const models::Inputs& inputs, const SpaceRequest& request) {
    SpaceRequest other = request;
    const int node = inputs.machine.node.tiles, most = most_tiles(inputs.machine);
    int sizes = 0;
    for (other.tiles = (request.tiles / node + 1) * node; other.tiles <= most && sizes < kSizes; other.tiles += node) {
        const std::optional<EvaluatedPlan> least = least_memory_plan(inputs, other);
        if (least && least->memory_peak_bytes <= inputs.machine.tile.hbm_bytes) {
            return other.tiles;
        }
        sizes += least ? 1 : 0;
    }
    return std::nullopt;
}

}  // namespace auspex::search
