/// @file Programs of plans, and what their ranks do.
#include "sim/search/bounds/cpu_floor.hpp"

#include "sim/cpu/least_step.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {
namespace {

/// A play rounds each kernel, of 100 ns and more, to picoseconds.
constexpr double kBelowRounded = 1 - 1e-5;

models::Inputs with_plan(const models::Inputs& inputs, const Candidate& plan) {
    models::Inputs own = inputs;
    own.plan = plan_of(plan, inputs.plan);
    return own;
}

}  // namespace

double CpuFloor::kernels_s(const Candidate& plan) {
    const auto [found, is_new] = kernels_.try_emplace(
        {plan.virtual_stages, stage_shape_of(plan.schedule), splits_backward(plan.schedule), plan.stages,
         plan.micro_batch_size, plan.optimizer, plan.dispatch, plan.expert_kernels, plan.sequence_parallel});
    if (is_new) {
        Candidate least = plan;
        least.recompute = 0;
        const models::Inputs own = with_plan(inputs_, least);
        found->second = kBelowRounded * cpu::least_kernel_s(own, predict::prepare_step(own, {}));
    }
    return found->second;
}

double CpuFloor::actions_s(const Candidate& plan) const {
    const models::Inputs own = with_plan(inputs_, plan);
    return kBelowRounded * cpu::least_step_s(own, predict::prepare_step(own, {}));
}

}  // namespace auspex::search
