#pragma once
/// @file Where a space is empty, or nothing of it fits: what is nearest to it that works.
#include <optional>

#include "models/inputs.hpp"
#include "sim/search/search_result.hpp"

namespace auspex::search {

/// Tiles that a job may ask for: max_nodes x tiles of a node.
[[nodiscard]] int most_tiles(const models::Machine& machine);
/// True if any plan divides tiles and batch.
[[nodiscard]] bool has_plans(const models::Inputs& inputs, const SpaceRequest& request);

/// The global batch nearest to the request's that some plan divides over its tiles; the smaller of two. None: none was
/// found at a distance of up to the tiles.
[[nodiscard]] std::optional<int> nearest_batch(const models::Inputs& inputs, const SpaceRequest& request);
/// The number of tiles nearest to the request's, of the multiples of `unit`, over which some plan divides its batch, up
/// to most_tiles; the smaller of two. None: none was found at a distance of up to 4,096. Requires a request of a
/// multiple.
[[nodiscard]] std::optional<int> nearest_tiles(const models::Inputs& inputs, const SpaceRequest& request, int unit = 1);

/// The plan of least memory of those looked at: of the shapes with the smallest weights and gradients, then
/// micro-batches, with the exact memory of all choices but of overlap, which changes none. Not played. None: no plans.
[[nodiscard]] std::optional<EvaluatedPlan> least_memory_plan(const models::Inputs& inputs, const SpaceRequest& request);
/// The least number of whole nodes' tiles, above the request's, on which a least_memory_plan fits with its batch. None:
/// none of the first 64 sizes that have plans.
[[nodiscard]] std::optional<int> nearest_tiles_that_fit(const models::Inputs& inputs, const SpaceRequest& request);

}  // namespace auspex::search
