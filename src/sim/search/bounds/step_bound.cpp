/// @file Bounds as sums over stages.
#include "sim/search/bounds/step_bound.hpp"

#include "schedule/program/block_builder.hpp"
#include "sim/engine/cost_program.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/operation_costs.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {

GridBound::GridBound(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like)
    : GridBound(inputs, table, resolve_plan(plan_of(like, inputs.plan), inputs.workload, 0)) {}

GridBound::GridBound(const models::Inputs& inputs, LayerCostTable& table, const models::Plan& resolved)
    : inputs_(inputs),
      table_(table),
      layout_(make_layout(resolved, inputs.machine, tiles_of(resolved))),
      network_(inputs.machine, inputs.stack, layout_) {
    network_.set_routing(routing_load(resolved, inputs.workload));
}

double GridBound::of(const Candidate& c) { return bound_of(c, terms_of(c, optimizer_of(c))); }

double GridBound::of(const Candidate& c, double optimizer_s) {
    const std::vector<std::vector<double>> optimizer(static_cast<std::size_t>(c.pp), {optimizer_s});
    return bound_of(c, terms_of(c, optimizer));
}

double GridBound::of_passes(const Candidate& c) { return bound_of_passes(c, terms_of(c, optimizer_of(c))); }

BoundTerms GridBound::terms_of(const Candidate& c, std::span<const std::vector<double>> optimizer) {
    const PassTimes& passes = passes_of(c);
    const MessageTimes& messages = messages_of(c);
    const bool blocks = inputs_.stack.blocking_sends && !overlaps(c, schedule::Stream::kPp);
    return {.forward_s = passes.forward_s,
            .backward_s = passes.backward_s,
            .input_s = passes.input_s,
            .weight_s = passes.weight_s,
            .shards_s = passes.shards_s,
            .blocks_shards = !overlaps(c, schedule::Stream::kDp),
            .message_s = messages.next_s,
            .back_s = messages.back_s,
            .blocks_messages = blocks,
            .optimizer_s = optimizer,
            .auto_order = auto_order_of(c, inputs_),
            .is_among_others = inputs_.plan.post_validation};
}

const GridBound::PassTimes& GridBound::passes_of(const Candidate& c) {
    const LayerCosts& costs = table_.of(c);
    const auto [found, is_new] = passes_.try_emplace({&costs, chunks_of(c), overlap_of_passes(c)});
    if (is_new) {
        std::vector<PartTimes>& known = parts_[{&costs, overlap_of_passes(c)}];
        known.resize(static_cast<std::size_t>(c.pp));
        const models::Plan plan = plan_of_passes(c);
        const std::vector<PartCounts>& parts = table_.parts_of(c);
        PassTimes& times = found->second;
        for (int v = 0; v < c.pp * c.virtual_stages; ++v) {
            const int stage = schedule::stage_of(plan, v);
            PartTimes& own = known[static_cast<std::size_t>(stage)];
            const auto pass_s = [&](KnownTimes& known_s, const PassCosts& pass) {
                double sum_s = 0;
                for (std::size_t part = 0; part < kParts; ++part) {
                    const int count = parts[static_cast<std::size_t>(v)][part];
                    sum_s += count > 0 ? part_s(known_s[part], pass[part], c, stage) * count : 0;
                }
                return sum_s;
            };
            times.forward_s.push_back(pass_s(own.forward_s, costs.forward));
            times.backward_s.push_back(pass_s(own.backward_s, costs.backward));
            if (splits_backward(c.schedule)) {
                times.input_s.push_back(pass_s(own.input_s, costs.input));
                times.weight_s.push_back(pass_s(own.weight_s, costs.weight));
            }
            times.shards_s.push_back(shards_s(own, costs, c, v, stage));
        }
    }
    return found->second;
}

const GridBound::MessageTimes& GridBound::messages_of(const Candidate& c) {
    const auto [found, is_new] = messages_.try_emplace({chunks_of(c), c.micro_batch_size, c.sequence_parallel});
    if (is_new) {
        const models::Plan plan = plan_with_layers(c, inputs_);
        const int last = schedule::virtual_stages_in_all(plan) - 1;
        schedule::Operation message;
        message.comm = schedule::CommKind::kSend;
        for (int v = 0; v < last; ++v) {
            if (schedule::is_last_part(plan, v) || schedule::is_local_boundary(plan, v)) {
                found->second.next_s.push_back(0);
                found->second.back_s.push_back(0);
                continue;
            }
            const bool down = schedule::goes_to_next_stage(plan, v);
            message.bytes = schedule::message_bytes(inputs_.workload, plan, inputs_.stack, v);
            message.group = down ? models::GroupKind::kNextStage : models::GroupKind::kPreviousStage;
            found->second.next_s.push_back(solo_s(message, schedule::stage_of(plan, v)));
            message.group = down ? models::GroupKind::kPreviousStage : models::GroupKind::kNextStage;
            found->second.back_s.push_back(solo_s(message, schedule::stage_of(plan, v + 1)));
        }
        found->second.next_s.push_back(0);
        found->second.back_s.push_back(0);
    }
    return found->second;
}

double GridBound::part_s(std::optional<double>& known_s, const PartCosts& part, const Candidate& c, int stage) {
    if (!known_s) {
        known_s = part.compute_s;
        for (const schedule::Operation& op : part.communications) {
            *known_s += overlaps(c, op) ? 0 : solo_s(op, stage, table_.of(c).least_load);
        }
    }
    return *known_s;
}

double GridBound::shards_s(PartTimes& known, const LayerCosts& costs, const Candidate& c, int v, int stage) {
    double sum_s = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
        const int count = table_.parts_of(c)[static_cast<std::size_t>(v)][part];
        if (count > 0 && !known.shards_s[part]) {
            known.shards_s[part] = shards_of_passes(costs, part, c.schedule, [&](const schedule::Operation& op) {
                return group_size(layout_, op.group) > 1 ? solo_s(op, stage) : 0;
            });
        }
        sum_s += count > 0 ? *known.shards_s[part] * count : 0;
    }
    return sum_s;
}

double GridBound::solo_s(const schedule::Operation& op, int stage, double least_load) {
    const double bytes = op.bytes * (op.routed ? least_load : 1);
    const auto [found, is_new] = solo_.try_emplace({op.comm, op.group, stage, bytes, op.repeat});
    if (is_new) {
        const network::Transfer transfer =
            network_.unroll(op.comm, op.group, stage, bytes, 1, network::kAllSiblings, 0);
        found->second = to_seconds(network_.solo_duration(transfer, op.repeat));
    }
    return found->second;
}

const std::vector<std::vector<double>>& GridBound::optimizer_of(const Candidate& c) {
    const bool overlaps_dp = overlaps(c, schedule::Stream::kDp);
    const auto [found, is_new] = optimizers_.try_emplace({c.optimizer, chunks_of(c), overlaps_dp, c.sequence_parallel});
    if (is_new) {
        const models::Plan plan = resolve_plan(plan_of(c, inputs_.plan), inputs_.workload, 0);
        if (inputs_.stack.barriers_per_step > 0) {
            found->second.assign(static_cast<std::size_t>(c.pp), {played_optimizer_s(c, plan)});
        } else {
            for (int stage = 0; stage < c.pp; ++stage) {
                found->second.push_back(optimizer_parts(c, plan, stage));
            }
        }
    }
    return found->second;
}

double GridBound::played_optimizer_s(const Candidate& c, const models::Plan& plan) {
    const schedule::Shapes shapes = schedule::shapes_of(inputs_.workload, plan, inputs_.stack);
    schedule::Program program;
    program.overlap_dp = plan.overlap_dp;
    schedule::BlockBuilder builder(program, shapes);
    const bool is_reduced = shards_gradients(plan.optimizer) ||
                            (plan.overlap_dp && inputs_.stack.reduction == models::Reduction::kBucketed);
    for (int stage = 0; stage < c.pp; ++stage) {
        program.roles.push_back({stage, {{build_optimizer_block(builder, layout_, stage, is_reduced), -1}}});
    }
    engine::CostOptions options;
    options.slowdown.assign(program.roles.size(), predict::slowest_of_groups(inputs_.machine.tile, plan));
    const engine::OperationCosts costs =
        cost_operations(program, inputs_.machine, inputs_.stack, layout_, network_, options);
    const engine::CostedProgram costed = cost_program(program, inputs_.machine, inputs_.stack, layout_, costs, options);
    return to_seconds(play(costed, network_, nullptr).step);
}

std::vector<double> GridBound::optimizer_parts(const Candidate& c, const models::Plan& plan, int stage) {
    const schedule::Shapes shapes = schedule::shapes_of(inputs_.workload, plan, inputs_.stack);
    schedule::Program program;
    schedule::BlockBuilder builder(program, shapes);
    const bool overlaps_dp = overlaps(c, schedule::Stream::kDp);
    const bool is_reduced = shards_gradients(plan.optimizer) || overlaps_dp;
    const std::uint32_t block = schedule::build_optimizer_block(builder, layout_, stage, is_reduced);
    const double slowdown = predict::slowest_of_groups(inputs_.machine.tile, plan);
    std::vector<double> parts_s{0};
    for (const schedule::Operation& op : program.operations_of(program.blocks[block])) {
        if (op.comm == schedule::CommKind::kNone) {
            const engine::ComputeTime time = engine::compute_time(program, op, inputs_.machine, inputs_.stack, 1);
            parts_s.back() += time.nominal_s + time.straggler_s(slowdown);
        } else if (!overlaps_dp) {
            if (is_world(op)) {
                parts_s.push_back(0);
            }
            parts_s.back() += solo_s(op, stage);
        }
    }
    return parts_s;
}

}  // namespace auspex::search
