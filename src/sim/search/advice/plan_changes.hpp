#pragma once
/// @file The plans that differ from a plan in one choice.
#include <optional>
#include <string>
#include <vector>

#include "models/inputs.hpp"
#include "sim/search/space/plan_space.hpp"

namespace auspex::search {

/// A plan with one field changed, and the fields that follow from it.
struct PlanChange {
    std::string field;  ///< "recompute"; "schedule" with the number of virtual stages that it takes
    models::Plan plan;
    /// What of it the stack does not have, as `expert_kernels "fused"`, several joined by commas; empty: it has all.
    std::string lacking = {};
    bool changes_results = false;             ///< it trains in another precision, or with products in another
    std::optional<Candidate> candidate = {};  ///< of those that a space has
    std::string refused = {};  ///< what the filter refuses of a plan that lacks nothing, and not of the one before
};

/// Of a plan with the dp of a job of its tiles, all that PlanSpace has for each of its fields beside the plan's own
/// other fields: tiles and global batch stay, so that dp and the number of micro-batches follow. Beyond the space: what
/// the stack does not offer or overlap, the placements that are no draw, the words of precision and gradient_dtype, and
/// those of fp8 that the tile has a rate of. Limits that the plan itself has do not count.
[[nodiscard]] std::vector<PlanChange> plan_changes(const models::Inputs& inputs, int tiles, int global_batch,
                                                   const PlanFilter& filter = {});

/// A stack that can overlap every stream, and is otherwise the same: what plays changes that it cannot.
[[nodiscard]] models::Stack overlapping(models::Stack stack);

}  // namespace auspex::search
