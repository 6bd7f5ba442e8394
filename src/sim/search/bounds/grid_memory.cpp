/// @file Peaks of stages, the fullest first.
#include "sim/search/bounds/grid_memory.hpp"

#include <algorithm>

#include "models/routing.hpp"

namespace auspex::search {
namespace {

models::Plan resolved(const models::Inputs& inputs, const Candidate& candidate) {
    return resolve_plan(plan_of(candidate, inputs.plan), inputs.workload, 0);
}

}  // namespace

GridMemory::GridMemory(const models::Inputs& inputs, const Candidate& like) : inputs_(inputs) {
    const models::Plan plan = resolved(inputs, like);
    layout_ = make_layout(plan, inputs.machine, tiles_of(plan));
    if (inputs.workload.num_experts > 0) {
        heaviest_rank_ = models::routing_load(plan.routing, inputs.workload.num_experts, plan.ep, 1).heaviest_rank;
    }
}

double GridMemory::peak_bytes(const Candidate& candidate, double enough) {
    const models::Plan plan = resolved(inputs_, candidate);
    double most = stage_bytes(candidate, plan, 0);  // most micro-batches in flight, and the embedding
    for (int stage = plan.pp - 1; stage > 0 && most <= enough; --stage) {
        most = std::max(most, stage_bytes(candidate, plan, stage));
    }
    return most;
}

double GridMemory::stage_bytes(const Candidate& c, const models::Plan& plan, int stage) {
    const bool is_fsdp = c.optimizer == models::OptimizerSharding::kFsdp;
    const bool reduces = schedule::reduces_buckets(plan, inputs_.stack);
    const auto [effects, is_new] =
        effects_.try_emplace({c.virtual_stages, c.micro_batch_size, c.dispatch, c.expert_kernels, c.recompute,
                              c.sequence_parallel, is_fsdp, reduces, stage});
    if (is_new) {
        effects->second = schedule::pass_effects(inputs_.workload, plan, inputs_.stack, layout_, stage, heaviest_rank_);
    }
    const auto [fixed, is_unknown] = fixed_.try_emplace({c.virtual_stages, c.optimizer, stage});
    if (is_unknown) {
        fixed->second = schedule::even_fixed_bytes(inputs_.workload, plan, inputs_.stack, layout_, stage);
    }
    return schedule::stage_peak_bytes(effects->second, fixed->second, plan, inputs_.stack, inputs_.machine, stage);
}

}  // namespace auspex::search
