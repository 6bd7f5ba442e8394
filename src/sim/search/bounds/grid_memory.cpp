/// @file Peaks of stages, the fullest first.
#include "sim/search/bounds/grid_memory.hpp"

#include <algorithm>
#include <numeric>

#include "models/routing.hpp"
#include "schedule/memory/reserved_memory.hpp"
#include "sim/search/bounds/pipeline_bound.hpp"

namespace auspex::search {
namespace {

models::Plan resolved(const models::Inputs& inputs, const Candidate& candidate) {
    return resolve_plan(plan_of(candidate, inputs.plan), inputs.workload, 0);
}

}  // namespace

GridMemory::GridMemory(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like)
    : inputs_(inputs), table_(table) {
    const models::Plan plan = resolved(inputs, like);
    layout_ = make_layout(plan, inputs.machine, tiles_of(plan));
}

double GridMemory::floor_bytes(const Candidate& c) {
    const schedule::FixedBytes& fixed = fixed_of(c, 0);
    const LayerCosts& costs = table_.of(c);
    const std::vector<PartCounts>& parts = table_.parts_of(c);
    std::vector<double> kept_bytes;  // by chunk
    models::Plan plan = plan_of_passes(c);
    plan.auto_order = auto_order_of(c, inputs_);
    for (int chunk = 0; chunk < c.virtual_stages; ++chunk) {
        const PartCounts& counts = parts[static_cast<std::size_t>(schedule::virtual_stage_of(plan, chunk, 0))];
        kept_bytes.push_back(counts[static_cast<std::size_t>(Part::kDense)] * costs.dense_kept_bytes +
                             counts[static_cast<std::size_t>(Part::kExperts)] * costs.experts_kept_bytes);
    }
    const schedule::PassOrder order(plan, 0);
    double bytes = std::accumulate(fixed.begin(), fixed.end(), inputs_.machine.tile.reserved_bytes);
    for (int i = 0; i < order.size() && order[i].is_forward(); ++i) {
        bytes += kept_bytes[static_cast<std::size_t>(order[i].chunk)];
    }
    return bytes * kBelow;
}

double GridMemory::peak_bytes(const Candidate& candidate, double enough) {
    if (const double floor = floor_bytes(candidate); floor > enough) {
        return floor;
    }
    const models::Plan plan = resolved(inputs_, candidate);
    double most = stage_bytes(candidate, plan, 0, enough);  // most micro-batches in flight, and the embedding
    for (int stage = plan.pp - 1; stage > 0 && most <= enough; --stage) {
        most = std::max(most, stage_bytes(candidate, plan, stage, enough));
    }
    return most;
}

bool GridMemory::gradients_come_and_go(const Candidate& c) const {
    return schedule::gradients_come_and_go(plan_of(c, inputs_.plan), inputs_.stack);
}

const schedule::FixedBytes& GridMemory::fixed_of(const Candidate& c, int stage) {
    const auto [fixed, is_new] =
        fixed_.try_emplace({c.virtual_stages, stage_shape_of(c.schedule), splits_backward(c.schedule),
                            c.sequence_parallel, c.stages, c.optimizer, gradients_come_and_go(c), stage});
    if (is_new) {
        fixed->second =
            schedule::even_fixed_bytes(inputs_.workload, resolved(inputs_, c), inputs_.stack, layout_, stage);
    }
    return fixed->second;
}

double GridMemory::stage_bytes(const Candidate& c, const models::Plan& plan, int stage, double enough) {
    // Passes gather and sum by themselves where weights and gradients are sharded, and copies of a stage exchange
    // shards; the grid's groups are the same.
    const models::OptimizerSharding of_passes = shards_gradients(c.optimizer) || has_stages_twice(c.schedule)
                                                    ? c.optimizer
                                                    : models::OptimizerSharding::kReplicated;
    const bool reduces = schedule::reduces_buckets(plan, inputs_.stack);
    const auto [effects, is_new] =
        effects_.try_emplace({c.virtual_stages, stage_shape_of(c.schedule), splits_backward(c.schedule), c.stages,
                              c.micro_batch_size, c.dispatch, c.expert_kernels, c.recompute, c.sequence_parallel,
                              of_passes, reduces, gradients_come_and_go(c), stage});
    if (is_new) {
        effects->second = schedule::pass_effects(inputs_.workload, plan, inputs_.stack, layout_, stage,
                                                 routing_load(plan, inputs_.workload));
    }
    const double live =
        schedule::stage_peak_bytes(effects->second, fixed_of(c, stage), plan, inputs_.stack, inputs_.machine, stage);
    return live > enough ? live : std::max(live, reserved_bytes(plan, stage));
}

/// With what other libraries hold; 0 where the allocator is not played.
double GridMemory::reserved_bytes(const models::Plan& plan, int stage) const {
    if (!schedule::plays_allocator(inputs_.workload, plan, inputs_.stack)) {
        return 0;
    }
    const schedule::Program program = schedule::build_program(inputs_.workload, plan, inputs_.stack, layout_);
    const auto reserved = schedule::reserved_memory(inputs_.workload, plan, inputs_.stack, inputs_.machine, layout_,
                                                    program, stage, routing_load(plan, inputs_.workload));
    return reserved->reserved + inputs_.machine.tile.reserved_bytes;
}

}  // namespace auspex::search
