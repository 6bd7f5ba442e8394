#pragma once
/// @file What memory cost a search: plans that would have been the best, and what makes them fit.
#include <optional>
#include <vector>

#include "models/inputs.hpp"
#include "sim/search/search_result.hpp"

namespace auspex::search {

/// A plan that is faster than the best one that fits.
struct ShutOut {
    EvaluatedPlan plan;       ///< played as if there were memory for it
    double excess_bytes = 0;  ///< of its fullest stage, over what a tile has
    /// The fastest plans that fit and differ from it in what is recomputed only, or in one other field only (dp and the
    /// number of micro-batches follow).
    std::optional<EvaluatedPlan> by_recompute, by_other_field;
};

struct ShutOutPlans {
    std::vector<ShutOut> fastest;  ///< of different grids, the fastest first
    std::size_t played = 0;        ///< of those that do not fit and may be faster than the best by their bounds
    /// There may be others, with higher bounds than those played, that are faster than the last of `fastest`; also
    /// where the search was cut, for then none is played.
    bool are_more_possible = false;
};

/// The `most` fastest of result.unfit, played from the lowest bound until none that is left can be among them. Plans
/// whose weights and gradients alone do not fit are not among them. None where the search was cut or nothing fits.
[[nodiscard]] ShutOutPlans shut_out_by_memory(const models::Inputs& inputs, const SpaceRequest& request,
                                              const SearchResult& result, std::size_t most);

}  // namespace auspex::search
