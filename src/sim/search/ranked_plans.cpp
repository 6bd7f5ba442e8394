/// @file A prediction for each.
#include "sim/search/ranked_plans.hpp"

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

std::vector<RankedPlan> ranked_plans(const models::Inputs& inputs, const SearchResult& result, double run_tokens) {
    std::vector<RankedPlan> list;
    models::Inputs own = inputs;
    for (const EvaluatedPlan& evaluated : result.best) {
        own.plan = plan_of(evaluated.candidate, inputs.plan);
        list.push_back({own.plan, evaluated, predict::predict(own, {.run_tokens = run_tokens}).prediction, {}, {}});
        const predict::Prediction &best = list.front().prediction, &other = list.back().prediction;
        list.back().lead = lead_of(best.step_time_s, best.top_constants, other.step_time_s, other.top_constants);
        list.back().behind = losses_above(other.losses, best.losses);
    }
    return list;
}

}  // namespace auspex::search
