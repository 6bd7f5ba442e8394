#pragma once
/// @file The shapes of a space by grids, with their floors: the parts of a search.
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/search/bounds/step_bound.hpp"
#include "sim/search/part_source.hpp"

namespace auspex::search {

/// A plan, or a shape, and its bound.
struct Bounded {
    double bound_s = 0;
    std::uint64_t number = 0;
    Candidate plan;
    bool operator<(const Bounded& other) const {
        return std::tie(bound_s, number) < std::tie(other.bound_s, other.number);
    }
};

/// Shapes of one grid, the lowest bound first. They share a network.
using Grid = std::vector<Bounded>;

/// All grids of the space in the order of their lowest bounds; those looked at before `has_to_stop`. `table` gives each
/// thread its own.
[[nodiscard]] std::vector<Grid> bounded_grids(const models::Inputs& inputs, const PlanSpace& space,
                                              const std::function<LayerCostTable&()>& table,
                                              const std::function<bool()>& has_to_stop);

/// That whose weights and gradients, then micro-batches, are smallest.
[[nodiscard]] std::optional<Bounded> smallest_shape(const models::Inputs& inputs, const PlanSpace& space,
                                                    const std::vector<Grid>& grids, LayerCostTable& table);

/// The plans of a shape with their floors, without those whose weights and gradients take more than `most_bytes`.
[[nodiscard]] std::vector<Bounded> bounded_plans(const PlanSpace& space, const Bounded& shape, GridFloor& floor,
                                                 double most_bytes);

/// The grid as a part of the search.
[[nodiscard]] OpenPart part_of(const Grid& grid, const PlanSpace& space);

}  // namespace auspex::search
