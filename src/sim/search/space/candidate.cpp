/// @file Field by field.
#include "sim/search/space/candidate.hpp"

#include <algorithm>

namespace auspex::search {

models::Plan plan_of(const Candidate& c, const models::Plan& base) {
    models::Plan plan = base;
    plan.dp = c.dp, plan.ep = c.ep, plan.etp = c.etp, plan.tp = c.tp, plan.cp = c.cp, plan.pp = c.pp;
    plan.etp_given = c.etp != c.tp;
    plan.virtual_stages = c.virtual_stages;
    plan.micro_batch_size = c.micro_batch_size;
    plan.micro_batches = c.micro_batches;
    plan.schedule = c.schedule;
    plan.stages = c.stages;
    plan.optimizer = c.optimizer;
    if (c.optimizer != models::OptimizerSharding::kFsdp) {
        plan.reshard_after_forward = models::Plan{}.reshard_after_forward;
        plan.prefetch = models::Plan{}.prefetch;
        plan.reshard_ranks = models::Plan{}.reshard_ranks;
    }
    // The base's groups where they divide the candidate's replicas, else all of these together.
    const std::int64_t dense = std::int64_t{c.dp} * c.ep * c.etp / c.tp;
    if (!shards_in_groups(c.optimizer) || has_stages_twice(c.schedule) || c.dp % base.shard_replicas != 0 ||
        dense % base.shard_replicas != 0) {
        plan.shard_replicas = 1;
    }
    if (plan.reshard_ranks > 0 && (c.dp / plan.shard_replicas % plan.reshard_ranks != 0 ||
                                   dense / plan.shard_replicas % plan.reshard_ranks != 0)) {
        plan.reshard_ranks = 0;
    }
    plan.dispatch = c.dispatch;
    plan.expert_kernels = c.expert_kernels;
    if ((c.recompute & kRecomputeAsGiven) == 0) {
        plan.recompute = {.norm = (c.recompute & kRecomputeNorm) != 0,
                          .attention = (c.recompute & kRecomputeAttention) != 0,
                          .expert = (c.recompute & kRecomputeExpert) != 0};
        plan.recompute_layers = 0;
    }
    plan.overlap_tp = (c.overlap & kOverlapTp) != 0;
    plan.overlap_ep = (c.overlap & kOverlapEp) != 0;
    plan.overlap_dp = (c.overlap & kOverlapDp) != 0;
    plan.overlap_pp = (c.overlap & kOverlapPp) != 0;
    plan.sequence_parallel = c.sequence_parallel;
    if (c.rank_order > 0) {
        plan.rank_order = kRankOrders[c.rank_order];
    }
    return plan;
}

std::uint8_t recompute_mask(const models::Plan& plan) {
    const models::Recompute& r = plan.recompute;
    const models::Recompute whole{.norm = r.norm, .attention = r.attention, .expert = r.expert};
    if (r != whole || plan.recompute_layers > 0) {
        return kRecomputeAsGiven;
    }
    return static_cast<std::uint8_t>((r.norm ? kRecomputeNorm : 0) | (r.attention ? kRecomputeAttention : 0) |
                                     (r.expert ? kRecomputeExpert : 0));
}

models::StageDeal named_deal(const models::Plan& plan, const models::Workload& workload) {
    const std::vector<int>& layers = plan.stage_layers;
    const auto stages = static_cast<int>(layers.size());
    if (plan.stages != models::StageDeal::kList || stages > workload.layers || std::ranges::count(layers, 0) > 0) {
        return plan.stages;
    }
    const auto* const found = std::ranges::find_if(
        models::kNamedDeals, [&](models::StageDeal deal) { return layers_dealt(workload, deal, stages) == layers; });
    return found == models::kNamedDeals.end() ? plan.stages : *found;
}

std::vector<int> stage_layers_of(const Candidate& c, const models::Inputs& inputs) {
    return c.stages == models::StageDeal::kList
               ? inputs.plan.stage_layers
               : layers_dealt(inputs.workload, c.stages, stages_of_model(c.schedule, c.pp, c.virtual_stages));
}

}  // namespace auspex::search
