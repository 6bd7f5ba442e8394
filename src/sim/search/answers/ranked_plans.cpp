/// @file A prediction for each.
#include "sim/search/answers/ranked_plans.hpp"

#include <algorithm>

#include "sim/predict/predict.hpp"

namespace auspex::search {
namespace {

/// Losses above those of a base, the largest difference first.
std::vector<LossChange> losses_above(const schedule::LossTimes& losses, const schedule::LossTimes& base) {
    std::vector<LossChange> found;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        if (losses[loss] > base[loss]) {
            found.push_back({static_cast<schedule::Loss>(loss), to_seconds(losses[loss] - base[loss])});
        }
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, &LossChange::seconds);
    return found;
}

}  // namespace

std::vector<LossChange> binding_losses(const predict::Prediction& prediction) {
    schedule::LossTimes useful{};
    constexpr auto kUseful = static_cast<std::size_t>(schedule::Loss::kUsefulCompute);
    useful[kUseful] = prediction.losses[kUseful];
    return losses_above(prediction.losses, useful);
}

RankedPlan ranked_plan(const models::Inputs& inputs, const EvaluatedPlan& plan, double run_tokens) {
    models::Inputs own = inputs;
    own.plan = plan_of(plan.candidate, inputs.plan);
    return {own.plan, plan, predict::predict(own, {.run_tokens = run_tokens}).prediction, {}, {}};
}

void judge(RankedPlan& plan, const RankedPlan& best) {
    const predict::Prediction &one = plan.prediction, &other = best.prediction;
    plan.lead = lead_of(other.step_time_s, other.top_constants, one.step_time_s, one.top_constants);
    plan.behind = losses_above(one.losses, other.losses);
}

std::vector<RankedPlan> ranked_plans(const models::Inputs& inputs, const SearchResult& result, double run_tokens) {
    std::vector<RankedPlan> list;
    for (const EvaluatedPlan& evaluated : result.best) {
        list.push_back(ranked_plan(inputs, evaluated, run_tokens));
        judge(list.back(), list.front());
    }
    return list;
}

}  // namespace auspex::search
