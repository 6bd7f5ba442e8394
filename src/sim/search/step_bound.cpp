/// @file Bounds as sums over stages.
#include "sim/search/step_bound.hpp"

#include <algorithm>
#include <limits>

#include "models/group_ranks.hpp"
#include "schedule/program/block_builder.hpp"
#include "sim/engine/operation_costs.hpp"
#include "sim/network/node/node_paths.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {
namespace {

/// For the rounding of sums, so that a bound is one.
constexpr double kBelow = 1 - 1e-9;

bool overlaps(const Candidate& c, schedule::Stream stream) {
    switch (stream) {
        case schedule::Stream::kTp: return (c.overlap & kOverlapTp) != 0;
        case schedule::Stream::kEp: return (c.overlap & kOverlapEp) != 0;
        case schedule::Stream::kDp: return (c.overlap & kOverlapDp) != 0;
        case schedule::Stream::kPp: return (c.overlap & kOverlapPp) != 0;
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
                terms.blocks_messages ? (v < last ? terms.message_s[s] : 0) + (v > 0 ? terms.back_s[previous] : 0) : 0;
            busy_s += (terms.forward_s[at] + terms.backward_s[at] + messages_s) * c.micro_batches;
        }
        // The message behind the last pass is one of those that blocked.
        const double counted_s = terms.blocks_messages && stage > 0 ? terms.back_s[s - 1] : 0;
        const double end_s = std::max(behind_s - counted_s + terms.optimizer_s.front(), terms.optimizer_s[s]);
        largest_s = std::max(largest_s, before_s + busy_s + end_s);
        before_s += terms.forward_s[s] + terms.message_s[s];
        behind_s += terms.backward_s[s] + terms.back_s[s];
    }
    return largest_s * kBelow;
}

GridFloor::GridFloor(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like)
    : inputs_(inputs),
      table_(table),
      transport_bytes_per_s_(network::transport_bytes_per_s(inputs.machine.node, inputs.stack)) {
    const models::Plan plan = resolve_plan(plan_of(like, inputs.plan), inputs.workload, 0);
    const models::Layout layout = make_layout(plan, inputs.machine, tiles_of(plan));
    for (const models::GroupKind kind :
         {models::GroupKind::kTp, models::GroupKind::kCp, models::GroupKind::kEp, models::GroupKind::kEtp,
          models::GroupKind::kExpertDp, models::GroupKind::kDenseDp}) {
        const int size = group_size(layout, kind);
        int most = 1;
        const std::vector<int> ranks = size > 1 ? group_ranks(layout, kind, 0) : std::vector<int>();
        for (std::size_t first = 0; first < ranks.size(); first += static_cast<std::size_t>(size)) {
            std::map<int, int> in_node;
            for (std::size_t i = first; i < first + static_cast<std::size_t>(size); ++i) {
                most = std::max(most, ++in_node[ranks[i] / layout.tiles_per_node]);
            }
        }
        group_[kind] = {size, most};
    }
}

double GridFloor::floor_s(models::GroupKind group, double bytes) const {
    const auto found = group_.find(group);
    if (found == group_.end()) {
        return 0;
    }
    const double n = found->second.first, k = found->second.second;
    return bytes * (n - k) / n / (k * transport_bytes_per_s_);
}

double GridFloor::floor_s(const schedule::Operation& op) const {
    const double node_s = floor_s(op.group, op.bytes * op.repeat);
    return op.comm == schedule::CommKind::kAllToAll && node_s > 0 ? node_s * group_.at(op.group).second : node_s;
}

const GridFloor::StageExtremes& GridFloor::extremes_of(const Candidate& plan) {
    const auto [found, is_new] = extremes_.try_emplace(plan.virtual_stages);
    if (is_new) {
        StageExtremes& extremes = found->second;
        const models::Plan whole = plan_of(plan, inputs_.plan);
        for (int stage = 0; stage < plan.pp; ++stage) {
            const schedule::StageParameters p = schedule::stage_parameters(inputs_.workload, whole, stage);
            extremes.least_dense = stage == 0 ? p.dense : std::min(extremes.least_dense, p.dense);
            extremes.least_experts = stage == 0 ? p.experts : std::min(extremes.least_experts, p.experts);
            extremes.most = std::max(extremes.most, p.dense + p.experts);
        }
    }
    return found->second;
}

double GridFloor::memory_bytes(const Candidate& plan) {
    const bool is_whole = plan.optimizer != models::OptimizerSharding::kFsdp;
    const models::Plan& base = inputs_.plan;
    return (is_whole ? extremes_of(plan).most * (base.weight_bytes + base.gradient_bytes) : 0) * kBelow +
           inputs_.machine.tile.reserved_bytes;
}

double GridFloor::optimizer_s(const Candidate& plan) {
    if (overlaps(plan, schedule::Stream::kDp) || plan.optimizer == models::OptimizerSharding::kFsdp) {
        return 0;
    }
    const StageExtremes& least = extremes_of(plan);
    const models::Plan& base = inputs_.plan;
    const bool gathers = plan.optimizer != models::OptimizerSharding::kReplicated;
    // Plain sharding gathers dense parameters over a part of the replicas only.
    const bool gathers_dense = plan.optimizer == models::OptimizerSharding::kEpAware;
    return floor_s(models::GroupKind::kExpertDp,
                   least.least_experts * (base.gradient_bytes + (gathers ? base.weight_bytes : 0))) +
           floor_s(models::GroupKind::kDenseDp,
                   least.least_dense * (base.gradient_bytes + (gathers_dense ? base.weight_bytes : 0)));
}

const GridFloor::PartTimes& GridFloor::times_of(const Candidate& plan) {
    const LayerCosts& costs = table_.of(plan);
    const auto [found, is_new] = times_.try_emplace({&costs, plan.overlap});
    if (is_new) {
        const auto fill = [&](const std::array<PartCosts, kParts>& parts, std::array<double, kParts>& seconds) {
            for (std::size_t part = 0; part < kParts; ++part) {
                seconds[part] = parts[part].compute_s;
                for (const schedule::Operation& op : parts[part].communications) {
                    seconds[part] += overlaps(plan, op.stream) ? 0 : floor_s(op);
                }
            }
        };
        fill(costs.forward, found->second.forward_s);
        fill(costs.backward, found->second.backward_s);
    }
    return found->second;
}

double GridFloor::bound_s(const Candidate& c, const PartTimes& times, double optimizer_s) const {
    BoundTerms terms;
    for (int v = 0; v < c.pp * c.virtual_stages; ++v) {
        const std::array<int, kParts> counts = parts_of(inputs_.workload, c, v);
        double forward_s = 0, backward_s = 0;
        for (std::size_t part = 0; part < kParts; ++part) {
            forward_s += times.forward_s[part] * counts[part];
            backward_s += times.backward_s[part] * counts[part];
        }
        terms.forward_s.push_back(forward_s);
        terms.backward_s.push_back(backward_s);
    }
    const auto stages = static_cast<std::size_t>(c.pp);
    terms.message_s.assign(stages, 0);
    terms.back_s.assign(stages, 0);
    terms.optimizer_s.assign(stages, optimizer_s);
    return bound_of(c, terms);
}

double GridFloor::of(const Candidate& plan) { return bound_s(plan, times_of(plan), optimizer_s(plan)); }

double GridFloor::of_any(const Candidate& shape, const std::vector<Candidate>& plans) {
    const auto [found, is_new] = least_.try_emplace(shape.micro_batch_size);
    if (is_new) {
        found->second = times_of(plans.front());
        for (const Candidate& plan : plans) {
            const PartTimes& times = times_of(plan);
            for (std::size_t part = 0; part < kParts; ++part) {
                found->second.forward_s[part] = std::min(found->second.forward_s[part], times.forward_s[part]);
                found->second.backward_s[part] = std::min(found->second.backward_s[part], times.backward_s[part]);
            }
        }
    }
    double optimizer_s = std::numeric_limits<double>::infinity();
    for (const Candidate& plan : plans) {
        optimizer_s = std::min(optimizer_s, this->optimizer_s(plan));
    }
    return bound_s(shape, found->second, optimizer_s);
}

GridBound::GridBound(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like)
    : GridBound(inputs, table, resolve_plan(plan_of(like, inputs.plan), inputs.workload, 0)) {}

GridBound::GridBound(const models::Inputs& inputs, LayerCostTable& table, const models::Plan& resolved)
    : inputs_(inputs),
      table_(table),
      layout_(make_layout(resolved, inputs.machine, tiles_of(resolved))),
      network_(inputs.machine, inputs.stack, layout_) {
    if (inputs.workload.num_experts > 0) {
        const models::RoutingLoad load = routing_load(resolved.routing, inputs.workload.num_experts, resolved.ep, 1);
        network_.set_routing_shares(load.uneven_shares());
    }
}

double GridBound::of(const Candidate& c) {
    const LayerCosts& costs = table_.of(c);
    BoundTerms terms;
    terms.blocks_messages = inputs_.stack.blocking_sends && !overlaps(c, schedule::Stream::kPp);
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
    schedule::Operation back = message;
    back.group = models::GroupKind::kPreviousStage;
    for (int stage = 0; stage < c.pp; ++stage) {
        terms.message_s.push_back(c.pp > 1 ? solo_s(message, stage) : 0);
        terms.back_s.push_back(c.pp > 1 ? solo_s(back, (stage + 1) % c.pp) : 0);
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
    const auto [found, is_new] =
        optimizers_.try_emplace({c.optimizer, c.virtual_stages, overlaps_dp, c.sequence_parallel, stage});
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
