/// @file Programs of single layers, their operations sorted by part.
#include "sim/search/layer_costs.hpp"

#include <algorithm>
#include <numeric>

#include "sim/engine/operation_costs.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {
namespace {

/// What the engine's rounding to whole picoseconds may take away from an operation of up to four parts.
constexpr double kRounding_s = 4e-12;

/// The model with one layer of each kind.
models::Workload short_model(models::Workload model) {
    const int dense = std::min(model.first_dense_layers, 1);
    model.layers = model.num_experts > 0 ? dense + 1 : 1;
    model.first_dense_layers = dense;
    return model;
}

/// The candidate's plan for it: one stage, one micro-batch, as few replicas as the grid allows.
models::Plan short_plan(const Candidate& c, const models::Plan& base, const models::Workload& model) {
    models::Plan plan = plan_of(c, base);
    plan.pp = plan.virtual_stages = plan.micro_batches = 1;
    plan.schedule = models::ScheduleKind::k1f1b;
    plan.routing = {};
    const int experts_replica = c.ep * c.etp, dense_replica = c.tp * c.cp;
    plan.dp = std::lcm(experts_replica, dense_replica) / experts_replica;
    return resolve_plan(plan, model, 0);
}

/// Operations in front of the layers belong to the embedding when going forward and to the head when going backward,
/// those behind them the other way round.
Part part_of(const schedule::Operation& op, bool is_forward, bool is_behind_layers, const models::Workload& model) {
    if (op.kind == schedule::OpKind::kHostSync) {
        return Part::kEvery;
    }
    if (op.layer >= 0) {
        return model.is_moe_layer(op.layer) ? Part::kExperts : Part::kDense;
    }
    return is_forward == is_behind_layers ? Part::kHead : Part::kEmbedding;
}

LayerCosts costs_of(const models::Inputs& inputs, const Candidate& candidate) {
    const models::Workload model = short_model(inputs.workload);
    const models::Plan plan = short_plan(candidate, inputs.plan, model);
    const schedule::Program program =
        schedule::build_program(model, plan, inputs.stack, rank_grid(plan, tiles_of(plan)));
    const double slowdown = predict::slowest_of_groups(inputs.machine.tile, plan);
    LayerCosts costs;
    for (const schedule::BlockUse& use : program.roles.front().order) {
        const schedule::Block& block = program.blocks[use.block];
        if (block.kind == schedule::BlockKind::kOptimizer) {
            continue;
        }
        const bool is_forward = block.kind == schedule::BlockKind::kForward;
        bool is_behind_layers = false;
        for (const schedule::Operation& op : program.operations_of(block)) {
            is_behind_layers = is_behind_layers || op.layer >= 0;
            const Part kind = part_of(op, is_forward, is_behind_layers, model);
            PartCosts& part = (is_forward ? costs.forward : costs.backward)[static_cast<std::size_t>(kind)];
            if (op.comm == schedule::CommKind::kNone) {
                const engine::ComputeTime time = engine::compute_time(program, op, inputs.machine, inputs.stack, 1);
                part.compute_s += std::max(0.0, time.nominal_s + time.straggler_s(slowdown) - kRounding_s);
            } else if (op.stream == schedule::Stream::kTp || op.stream == schedule::Stream::kEp ||
                       op.stream == schedule::Stream::kCp) {
                part.communications.push_back(op);
            }
        }
    }
    return costs;
}

}  // namespace

const LayerCosts& LayerCostTable::of(const Candidate& c) {
    const Key key{
        c.tp, c.etp, c.ep, c.cp, c.micro_batch_size, c.dispatch, c.expert_kernels, c.recompute, c.sequence_parallel};
    const auto found = known_.find(key);
    return found != known_.end() ? found->second : known_.emplace(key, costs_of(inputs_, c)).first->second;
}

std::array<int, kParts> parts_of(const models::Workload& workload, const Candidate& c, int virtual_stage) {
    models::Plan grid;
    grid.pp = c.pp;
    grid.virtual_stages = c.virtual_stages;
    const schedule::LayerRange range = schedule::layers_of(workload, grid, virtual_stage);
    const int dense_end = workload.num_experts > 0 ? workload.first_dense_layers : range.last;
    const int dense = std::clamp(dense_end, range.first, range.last) - range.first;
    return {dense, range.last - range.first - dense, virtual_stage == 0 ? 1 : 0,
            virtual_stage == c.pp * c.virtual_stages - 1 ? 1 : 0, 1};
}

}  // namespace auspex::search
