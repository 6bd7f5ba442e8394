/// @file Memory first, then the folded lens.
#include "sim/search/played_plan.hpp"

#include "sim/predict/memory_report.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {

EvaluatedPlan GridPlayer::play(EvaluatedPlan plan, bool has_to_fit) {
    models::Inputs own = inputs_;
    own.plan = plan_of(plan.candidate, inputs_.plan);
    predict::SimulatedStep step = predict::prepare_step(own, {});
    plan.memory_peak_bytes = predict::memory_report(own, step).peak_bytes;
    if (!has_to_fit || plan.memory_peak_bytes <= inputs_.machine.tile.hbm_bytes) {
        if (!network_ && inputs_.machine.cpu.cores == 0) {
            network_.emplace(inputs_.machine, inputs_.stack, step.layout);
        }
        simulate_prepared(step, own, {}, false, network_ ? &*network_ : nullptr);
        plan.step = step.step;
        plan.losses = step.losses;
    }
    return plan;
}

EvaluatedPlan play_alone(const models::Inputs& inputs, const EvaluatedPlan& plan, bool has_to_fit) {
    return GridPlayer(inputs).play(plan, has_to_fit);
}

}  // namespace auspex::search
