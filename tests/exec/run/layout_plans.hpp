#pragma once
/// @file Plans that split a small model in one way or another, and what they have to give.
#include "../exec_fixture.hpp"

namespace auspex::exec_fixture {

inline models::Workload deep(models::Workload workload) {
    workload.layers = 4;
    return workload;
}

inline models::Plan recomputed(models::Plan plan) {
    plan.recompute.norm = plan.recompute.attention = plan.recompute.expert = true;
    return plan;
}

inline models::Plan bf16(models::Plan plan) {
    plan.precision = "bf16", plan.weight_bytes = plan.gradient_bytes = 2;
    return plan;
}

inline models::Plan split_plan(bool sequence_parallel) {
    models::Plan plan = single_plan();
    plan.tp = plan.etp = 2;
    plan.sequence_parallel = sequence_parallel;
    return plan;
}

inline models::Plan pipeline_plan(models::ScheduleKind schedule) {
    models::Plan plan = single_plan();
    plan.pp = 2;
    plan.micro_batches = 4;
    plan.schedule = schedule;
    plan.virtual_stages = least_chunks(schedule);
    return plan;
}

/// Learned routing: every rank has to choose as the single rank does.
inline models::Plan routed(models::Plan plan, models::Dispatch dispatch, models::ExpertKernels kernels) {
    plan.routing.kind = models::RoutingDistribution::kLearned;
    plan.dispatch = dispatch;
    plan.expert_kernels = kernels;
    return plan;
}

template <class Check>
void for_each_expert_choice(const models::Plan& plan, Check&& check) {
    for (const models::Dispatch dispatch : {models::Dispatch::kAllGatherReduceScatter, models::Dispatch::kAllToAll}) {
        for (const models::ExpertKernels kernels :
             {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped, models::ExpertKernels::kFused}) {
            check(routed(plan, dispatch, kernels));
            check(recomputed(routed(plan, dispatch, kernels)));
        }
    }
}

/// The plan's batch on one rank.
inline models::Plan single_rank_of(const models::Plan& plan) {
    models::Plan single = single_plan();
    single.routing = plan.routing;
    single.micro_batches = plan.micro_batches * plan.dp * plan.ep * plan.etp / (plan.tp * plan.cp);
    return single;
}

/// As the gradient of a key's bias is without rotation, which moves all scores of a query alike: of no scale of its
/// own.
inline bool is_zero_but_for_rounding(const std::vector<double>& gradient) {
    return std::ranges::all_of(gradient, [](double g) { return std::abs(g) < 1e-15; });
}

/// What of a step's loss and gradients is not as on one rank; sums in another order may differ by 1e-12 of the largest
/// element.
inline std::vector<std::string> unlike_one_rank(const models::Workload& workload, const models::Plan& plan) {
    constexpr double kTolerance = 1e-12;
    const StepResult expected = one_step<exec::Fp64>(run_inputs(workload, single_rank_of(plan)));
    const StepResult found = one_step<exec::Fp64>(run_inputs(workload, plan));
    std::vector<std::string> unlike;
    const auto compare = [&unlike](const std::string& what, double difference) {
        if (!(difference < kTolerance)) {
            unlike.push_back(what + " by " + std::to_string(difference));
        }
    };
    compare("cross entropy", std::abs(found.loss.cross_entropy - expected.loss.cross_entropy));
    compare("auxiliary loss", std::abs(found.loss.auxiliary - expected.loss.auxiliary));
    compare("z loss", std::abs(found.loss.z - expected.loss.z));
    const double norm = expected.gradient_norm;  // handed over in fp32
    compare("gradient norm", 1e-6 * std::abs(found.gradient_norm - norm) / norm);
    compare("number of tensors", found.gradients.size() == expected.gradients.size() ? 0 : 1);
    for (const auto& [name, gradient] : expected.gradients) {
        const auto place = found.gradients.find(name);
        const bool is_zero = is_zero_but_for_rounding(gradient) && place != found.gradients.end() &&
                             is_zero_but_for_rounding(place->second);
        compare(name, is_zero                          ? 0
                      : place == found.gradients.end() ? INFINITY
                                                       : relative_difference(place->second, gradient));
    }
    return unlike;
}

}  // namespace auspex::exec_fixture
