#pragma once
/// @file Plans that split a small model in one way or another.
#include "../exec_fixture.hpp"

namespace auspex::exec_fixture {

inline models::Workload deep(models::Workload workload) {
    workload.layers = 4;
    return workload;
}

inline models::Plan recomputed(models::Plan plan) {
    plan.recompute_norm = plan.recompute_attention = plan.recompute_expert = true;
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

}  // namespace auspex::exec_fixture
