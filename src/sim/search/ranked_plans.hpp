#pragma once
/// @file The best plans of a search, predicted in full and judged against the first.
#include <vector>

#include "sim/search/lead.hpp"
#include "sim/search/search_result.hpp"

namespace auspex::search {

struct RankedPlan {
    models::Plan plan;
    EvaluatedPlan evaluated;
    predict::Prediction prediction;  ///< with interval and constants
    Lead lead;                       ///< of the first plan over this one
};
/// Those of result.best, in order.
[[nodiscard]] std::vector<RankedPlan> ranked_plans(const models::Inputs& inputs, const SearchResult& result);

}  // namespace auspex::search
