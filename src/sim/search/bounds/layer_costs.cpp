/// @file Programs of single layers, their operations sorted by part.
#include "sim/search/bounds/layer_costs.hpp"

#include <algorithm>
#include <numeric>

#include "models/routing.hpp"
#include "schedule/memory/plan_memory.hpp"
#include "sim/engine/operation_costs.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {
namespace {

/// What the engine's rounding to whole picoseconds may take away from an operation of up to four parts.
constexpr double kRounding_s = 4e-12;

/// A pipeline with a layer a stage: embedding and a layer, a layer of each kind, a layer and the head.
models::Workload short_model(models::Workload model) {
    const bool is_mixed = model.num_experts > 0 && model.first_dense_layers > 0;
    model.first_dense_layers = is_mixed ? 2 : 0;
    model.layers = is_mixed ? 4 : 3;
    return model;
}

/// What passes gather and sum is known: whole groups share the shards.
bool counts_shards(const Candidate& c, const models::Plan& base) {
    return c.optimizer == models::OptimizerSharding::kFsdp && base.shard_replicas == 1 && base.reshard_ranks == 0;
}

/// The candidate's plan for it: one micro-batch, as few replicas as the grid allows, but two where they share shards.
models::Plan short_plan(const Candidate& c, const models::Plan& base, const models::Workload& model,
                        models::ScheduleKind schedule) {
    models::Plan plan = plan_of(c, base);
    plan.pp = model.layers;
    plan.virtual_stages = plan.micro_batches = 1;
    plan.schedule = schedule;
    plan.overlap_tp = plan.overlap_ep = plan.overlap_dp = plan.overlap_pp = false;  // kept for all overlaps alike
    plan.shard_replicas = 1;  // sums over replicas are not asked for
    plan.routing = {};
    plan.stages = models::StageDeal::kEven;
    plan.stage_layers.clear();
    plan.recompute_layers = 0;
    const int experts_replica = c.ep * c.etp, dense_replica = c.tp * c.cp;
    plan.dp = std::lcm(experts_replica, dense_replica) / experts_replica * (counts_shards(c, base) ? 2 : 1);
    return resolve_plan(plan, model, 0);
}

/// A pass of a stage.
struct StagePass {
    PartCosts all;  ///< without waits for the host
    double host_sync_s = 0;
};

StagePass pass_of(const models::Inputs& inputs, const schedule::Program& program, int stage, schedule::BlockKind kind,
                  double slowdown, double least_load, bool with_shards) {
    StagePass pass;
    for (const schedule::BlockUse& use : program.roles[static_cast<std::size_t>(stage)].order) {
        const schedule::Block& block = program.blocks[use.block];
        if (block.kind != kind) {
            continue;
        }
        for (const schedule::Operation& op : program.operations_of(block)) {
            if (op.comm == schedule::CommKind::kNone) {
                const engine::ComputeTime time =
                    engine::compute_time(program, op, inputs.machine, inputs.stack, least_load);
                const double seconds = std::max(0.0, time.nominal_s + time.straggler_s(slowdown) - kRounding_s);
                (op.kind == schedule::OpKind::kHostSync ? pass.host_sync_s : pass.all.compute_s) += seconds;
            } else if (op.stream == schedule::Stream::kTp || op.stream == schedule::Stream::kEp ||
                       op.stream == schedule::Stream::kCp) {
                pass.all.communications.push_back(op);
            } else if (with_shards && op.stream == schedule::Stream::kDp) {
                pass.all.of_shards.push_back(op);
            }
        }
    }
    return pass;
}

std::vector<schedule::Operation> difference(const std::vector<schedule::Operation>& more,
                                            std::vector<schedule::Operation> left) {
    std::vector<schedule::Operation> rest;
    for (const schedule::Operation& op : more) {
        const auto same = std::ranges::find_if(left, [&](const schedule::Operation& other) {
            return op.comm == other.comm && op.group == other.group && op.bytes == other.bytes &&
                   op.repeat == other.repeat;
        });
        if (same != left.end()) {
            left.erase(same);
        } else {
            rest.push_back(op);
        }
    }
    return rest;
}

/// What a stage with more than a layer has more than the layer alone.
PartCosts difference(const PartCosts& more, const PartCosts& layer) {
    return {std::max(0.0, more.compute_s - layer.compute_s), difference(more.communications, layer.communications),
            difference(more.of_shards, layer.of_shards)};
}

/// A kind of pass of the short model, by part.
PassCosts pass_costs(const models::Inputs& inputs, const models::Workload& model, const models::Plan& plan,
                     const schedule::Program& program, schedule::BlockKind kind, double least_load, bool with_shards) {
    const double slowdown = predict::slowest_of_groups(inputs.machine.tile, plan);
    PassCosts parts;
    const auto part = [&parts](Part which) -> PartCosts& { return parts[static_cast<std::size_t>(which)]; };
    const auto pass = [&](int stage) {
        return pass_of(inputs, program, stage, kind, slowdown, least_load, with_shards);
    };
    const StagePass early = pass(1), late = pass(plan.pp - 2);
    part(model.is_moe_layer(1) ? Part::kExperts : Part::kDense) = early.all;
    part(model.is_moe_layer(plan.pp - 2) ? Part::kExperts : Part::kDense) = late.all;
    part(Part::kEmbedding) = difference(pass(0).all, early.all);
    part(Part::kHead) = difference(pass(plan.pp - 1).all, late.all);
    part(Part::kEvery).compute_s = early.host_sync_s;
    if (model.tied_embeddings || model.mtp_layers > 0) {  // on one stage with the embedding its table is there already
        part(Part::kHead).of_shards.clear();
    }
    return parts;
}

LayerCosts costs_of(const models::Inputs& inputs, const Candidate& candidate) {
    using schedule::BlockKind;
    const models::Workload model = short_model(inputs.workload);
    const auto program_with = [&](const models::Plan& plan) {
        return schedule::build_program(model, plan, inputs.stack, rank_grid(plan, tiles_of(plan)));
    };
    const models::Plan kept_plan = short_plan(candidate, inputs.plan, model, models::ScheduleKind::k1f1b);
    models::Plan plan = kept_plan;
    if (candidate.recompute == kRecomputeAsGiven && inputs.plan.recompute_layers > 0) {
        plan.recompute = {};  // of time at least as if no layer were recomputed, of memory as if all were
    }
    const schedule::Program program = program_with(plan);
    LayerCosts costs;
    const models::Plan own = resolve_plan(plan_of(candidate, inputs.plan), inputs.workload, 0);
    costs.least_load = routing_load(own, inputs.workload).least();
    const bool with_shards = counts_shards(candidate, inputs.plan);
    const auto passes = [&](const models::Plan& of, const schedule::Program& whole, BlockKind kind) {
        return pass_costs(inputs, model, of, whole, kind, costs.least_load, with_shards);
    };
    costs.forward = passes(plan, program, BlockKind::kForward);
    costs.backward = passes(plan, program, BlockKind::kBackward);
    if (splits_backward(candidate.schedule)) {
        models::Plan split = short_plan(candidate, inputs.plan, model, models::ScheduleKind::kZbH1);
        split.recompute = plan.recompute;
        const schedule::Program in_parts = program_with(split);
        costs.input = passes(split, in_parts, BlockKind::kBackwardInput);
        costs.weight = passes(split, in_parts, BlockKind::kBackwardWeight);
    }
    // The rank that is fullest over all chunks may have few rows in those of which most micro-batches are kept.
    models::RoutingLoad least_rows;
    if (is_skewed(inputs.plan.routing.kind)) {
        least_rows.by_rank.assign(static_cast<std::size_t>(candidate.ep), 0);
    }
    const schedule::Program keeping = plan == kept_plan ? schedule::Program() : program_with(kept_plan);
    for (const int layer : {1, plan.pp - 2}) {
        const auto kept = static_cast<double>(
            kept_bytes(model, kept_plan, inputs.stack, plan == kept_plan ? program : keeping, layer, least_rows));
        (model.is_moe_layer(layer) ? costs.experts_kept_bytes : costs.dense_kept_bytes) = kept;
    }
    return costs;
}

/// Of virtual stages with so many layers.
std::vector<PartCounts> parts_dealt(const models::Workload& model, const std::vector<int>& layers) {
    std::vector<PartCounts> parts;
    int first = 0;
    for (const int own : layers) {
        const int last = first + own;
        const int dense_end = model.num_experts > 0 ? model.first_dense_layers : last;
        const int dense = std::clamp(dense_end, first, last) - first;
        parts.push_back({dense, own - dense, 0, 0, 1});
        first = last;
    }
    parts.front()[static_cast<std::size_t>(Part::kEmbedding)] = 1;
    parts.back()[static_cast<std::size_t>(Part::kHead)] = 1;
    return parts;
}

}  // namespace

const LayerCosts& LayerCostTable::of(const Candidate& c) {
    const Key key{c.tp,
                  c.etp,
                  c.ep,
                  c.cp,
                  c.micro_batch_size,
                  c.dispatch,
                  c.expert_kernels,
                  c.recompute,
                  c.sequence_parallel,
                  splits_backward(c.schedule),
                  counts_shards(c, inputs_.plan)};
    const auto found = known_.find(key);
    return found != known_.end() ? found->second : known_.emplace(key, costs_of(inputs_, c)).first->second;
}

const std::vector<PartCounts>& LayerCostTable::parts_of(const Candidate& c) {
    const int stages = c.pp * c.virtual_stages;
    const bool are_twice = has_stages_twice(c.schedule);
    const auto [found, is_new] = parts_.try_emplace({stages, are_twice, c.stages});
    if (is_new) {
        std::vector<PartCounts>& parts = found->second;
        parts = parts_dealt(inputs_.workload, stage_layers_of(c, inputs_));
        if (are_twice) {
            const std::vector<PartCounts> once = parts;
            parts.insert(parts.end(), once.begin(), once.end());
        }
    }
    return found->second;
}

}  // namespace auspex::search
