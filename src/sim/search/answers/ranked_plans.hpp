#pragma once
/// @file The best plans of a search, predicted in full and judged against the first.
#include <vector>

#include "sim/search/answers/lead.hpp"
#include "sim/search/search_result.hpp"

namespace auspex::search {

struct LossChange {
    schedule::Loss loss = schedule::Loss::kUsefulCompute;
    double seconds = 0;
};

struct RankedPlan {
    models::Plan plan;
    EvaluatedPlan evaluated;
    predict::Prediction prediction;  ///< with interval and constants
    Lead lead;                       ///< of the first plan over this one
    std::vector<LossChange> behind;  ///< losses that it has more of than the first plan, what grew most first
};
/// What a step has besides useful compute, the most first: what binds it.
[[nodiscard]] std::vector<LossChange> binding_losses(const predict::Prediction& prediction);
/// One plan, predicted; the lead is to be judged yet.
[[nodiscard]] RankedPlan ranked_plan(const models::Inputs& inputs, const EvaluatedPlan& plan, double run_tokens);
/// Fills lead and what it is behind by, against the best one.
void judge(RankedPlan& plan, const RankedPlan& best);
/// Those of result.best, in order; a run of so many tokens is predicted, too.
[[nodiscard]] std::vector<RankedPlan> ranked_plans(const models::Inputs& inputs, const SearchResult& result,
                                                   double run_tokens = 0);

}  // namespace auspex::search
