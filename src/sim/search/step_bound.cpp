/// @file Bounds as sums over stages.
#include "sim/search/step_bound.hpp"

#include <algorithm>

#include "schedule/program/block_builder.hpp"
#include "sim/engine/operation_costs.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {
namespace {

/// For the rounding of sums, so that a bound is one.
constexpr double kBelow = 1 - 1e-9;

bool overlaps(const Candidate& c, schedule::Stream stream) {
    switch (stream) {
        case schedule::Stream::kTp: return (c.overlap & 1) != 0;
        case schedule::Stream::kEp: return (c.overlap & 2) != 0;
        case schedule::Stream::kDp: return (c.overlap & 4) != 0;
        case schedule::Stream::kPp: return (c.overlap & 8) != 0;
        case schedule::Stream::kCp:
        case schedule::Stream::kCompute: break;
    }
    return false;
}

}  // namespace

double bound_of(const Candidate& c, const BoundTerms& terms) {
    double before_s = 0, behind_s = 0, largest_s = 0;
    for (int stage = 0; stage < c.pp; ++stage) {
        const auto s = static_cast<std::size_t>(stage);
        const int last = c.pp * c.virtual_stages - 1;
        double busy_s = 0;
        for (int v = stage; v <= last; v += c.pp) {
            const auto at = static_cast<std::size_t>(v);
            const auto previous = static_cast<std::size_t>((stage + c.pp - 1) % c.pp);
            const double messages_s =
                terms.blocks_messages ? (v < last ? terms.message_s[s] : 0) + (v > 0 ? terms.message_s[previous] : 0)
                                      : 0;
            busy_s += (terms.forward_s[at] + terms.backward_s[at] + messages_s) * c.micro_batches;
        }
        const double end_s = std::max(behind_s + terms.optimizer_s.front(), terms.optimizer_s[s]);
        largest_s = std::max(largest_s, before_s + busy_s + end_s);
        before_s += terms.forward_s[s] + terms.message_s[s];
        behind_s += terms.backward_s[s] + terms.message_s[s];
    }
    return largest_s * kBelow;
}

double compute_bound_s(const models::Workload& workload, const Candidate& c, const LayerCosts& costs) {
    const auto pass_s = [](const std::array<PartCosts, kParts>& parts, const std::array<int, kParts>& counts) {
        double seconds = 0;
        for (std::size_t part = 0; part < kParts; ++part) {
            seconds += parts[part].compute_s * counts[part];
        }
        return seconds;
    };
    double before_s = 0, largest_s = 0;
    for (int stage = 0; stage < c.pp; ++stage) {
        double busy_s = 0, first_s = 0;
        for (int v = stage; v < c.pp * c.virtual_stages; v += c.pp) {
            const std::array<int, kParts> counts = parts_of(workload, c, v);
            const double both_s = pass_s(costs.forward, counts) + pass_s(costs.backward, counts);
            first_s = v == stage ? both_s : first_s;
            busy_s += both_s * c.micro_batches;
        }
        largest_s = std::max(largest_s, before_s + busy_s);
        before_s += first_s;
    }
    return largest_s * kBelow;
}

GridBound::GridBound(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like)
    : GridBound(inputs, table, resolve_plan(plan_of(like, inputs.plan), inputs.workload, 0)) {}

GridBound::GridBound(const models::Inputs& inputs, LayerCostTable& table, const models::Plan& resolved)
    : inputs_(inputs),
      table_(table),
      layout_(make_layout(resolved, inputs.machine, tiles_of(resolved))),
      network_(inputs.machine, inputs.stack, layout_) {}

double GridBound::of(const Candidate& c) {
    const LayerCosts& costs = table_.of(c);
    BoundTerms terms;
    terms.blocks_messages = !overlaps(c, schedule::Stream::kPp);
    for (int v = 0; v < c.pp * c.virtual_stages; ++v) {
        const std::array<int, kParts> counts = parts_of(inputs_.workload, c, v);
        double forward_s = 0, backward_s = 0;
        for (std::size_t part = 0; part < kParts; ++part) {
            if (counts[part] > 0) {
                forward_s += part_s(costs.forward[part], c, v % c.pp) * counts[part];
                backward_s += part_s(costs.backward[part], c, v % c.pp) * counts[part];
            }
        }
        terms.forward_s.push_back(forward_s);
        terms.backward_s.push_back(backward_s);
    }
    models::Plan plan = plan_of(c, inputs_.plan);
    schedule::Operation message;
    message.comm = schedule::CommKind::kSend;
    message.group = models::GroupKind::kNextStage;
    message.bytes = schedule::message_bytes(inputs_.workload, plan, inputs_.stack, 0);
    for (int stage = 0; stage < c.pp; ++stage) {
        terms.message_s.push_back(c.pp > 1 ? solo_s(message, stage) : 0);
        terms.optimizer_s.push_back(optimizer_s(c, stage));
    }
    return bound_of(c, terms);
}

double GridBound::part_s(const PartCosts& part, const Candidate& c, int stage) {
    const auto [found, is_new] = parts_.try_emplace({&part, {stage, c.overlap}}, part.compute_s);
    if (is_new) {
        double seconds = part.compute_s;
        for (const schedule::Operation& op : part.communications) {
            seconds += overlaps(c, op.stream) ? 0 : solo_s(op, stage);
        }
        found->second = seconds;
    }
    return found->second;
}

double GridBound::solo_s(const schedule::Operation& op, int stage) {
    const auto [found, is_new] = solo_.try_emplace({op.comm, op.group, stage, op.bytes, op.repeat});
    if (is_new) {
        const network::Transfer transfer = network_.unroll(op.comm, op.group, stage, op.bytes);
        found->second = to_seconds(network_.solo_duration(transfer, op.repeat));
    }
    return found->second;
}

double GridBound::optimizer_s(const Candidate& c, int stage) {
    const bool overlaps_dp = overlaps(c, schedule::Stream::kDp);
    const auto [found, is_new] = optimizers_.try_emplace({c.optimizer, c.virtual_stages, overlaps_dp, stage});
    if (is_new) {
        const models::Plan plan = resolve_plan(plan_of(c, inputs_.plan), inputs_.workload, 0);
        const schedule::Shapes shapes = schedule::shapes_of(inputs_.workload, plan, inputs_.stack);
        schedule::Program program;
        schedule::BlockBuilder builder(program, shapes);
        const bool is_reduced = plan.optimizer == models::OptimizerSharding::kFsdp || overlaps_dp;
        const std::uint32_t block = schedule::build_optimizer_block(builder, layout_, stage, is_reduced);
        const double slowdown = predict::slowest_of_groups(inputs_.machine.tile, plan);
        double seconds = 0;
        for (const schedule::Operation& op : program.operations_of(program.blocks[block])) {
            if (op.comm == schedule::CommKind::kNone) {
                const engine::ComputeTime time = engine::compute_time(program, op, inputs_.machine, inputs_.stack, 1);
                seconds += time.nominal_s + time.straggler_s(slowdown);
            } else if (!overlaps_dp) {
                seconds += solo_s(op, stage);
            }
        }
        found->second = seconds;
    }
    return found->second;
}

}  // namespace auspex::search
