/// @file A prediction for each.
#include "sim/search/ranked_plans.hpp"

#include "sim/predict/predict.hpp"

namespace auspex::search {

std::vector<RankedPlan> ranked_plans(const models::Inputs& inputs, const SearchResult& result) {
    std::vector<RankedPlan> list;
    models::Inputs own = inputs;
    for (const EvaluatedPlan& evaluated : result.best) {
        own.plan = plan_of(evaluated.candidate, inputs.plan);
        list.push_back({own.plan, evaluated, predict::predict(own, {}).prediction, {}});
        const predict::Prediction &best = list.front().prediction, &other = list.back().prediction;
        list.back().lead = lead_of(best.step_time_s, best.top_constants, other.step_time_s, other.top_constants);
    }
    return list;
}

}  // namespace auspex::search
