/// @file A bound from kernels and what messages between nodes take at least.
#include <algorithm>
#include <limits>

#include "models/group_ranks.hpp"
#include "sim/network/node/node_paths.hpp"
#include "sim/search/bounds/step_bound.hpp"

namespace auspex::search {

GridFloor::GridFloor(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like)
    : inputs_(inputs),
      table_(table),
      transport_bytes_per_s_(network::transport_bytes_per_s(inputs.machine.node, inputs.stack)) {
    if (inputs.machine.cpu.cores > 0) {
        cpu_.emplace(inputs);
    }
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
    for (int stage = 0; stage < plan.pp; ++stage) {
        const int next = (stage + 1) % plan.pp;
        bool leaves = false;
        for (int n = 0; n < layout.stage_ranks && !leaves; ++n) {
            leaves = layout.rank(stage, n) / layout.tiles_per_node != layout.rank(next, n) / layout.tiles_per_node;
        }
        leaves_node_.push_back(leaves);
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

std::array<schedule::StageParameters, kParts> GridFloor::parameters_of(const Candidate& c) const {
    const models::Workload& model = inputs_.workload;
    const models::Plan plan = plan_of(c, inputs_.plan);
    const int last = model.layers - 1;  // layers without experts come first
    schedule::StageParameters head = schedule::head_parameters(model, plan, schedule::stages_of_model(plan) - 1);
    for (int layer = model.layers; layer < model.layers_and_predictions(); ++layer) {
        head += schedule::layer_parameters(model, plan, layer);
    }
    return {schedule::layer_parameters(model, plan, 0), schedule::layer_parameters(model, plan, last),
            schedule::embedding_parameters(model, plan, 0), head, schedule::StageParameters{}};
}

const GridFloor::StageExtremes& GridFloor::extremes_of(const Candidate& plan) {
    const auto [found, is_new] = extremes_.try_emplace(chunks_of(plan));
    if (is_new) {
        StageExtremes& extremes = found->second;
        const std::array<schedule::StageParameters, kParts> each = parameters_of(plan);
        const std::vector<PartCounts>& parts = table_.parts_of(plan);
        for (int stage = 0; stage < plan.pp; ++stage) {
            schedule::StageParameters p;
            for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
                const int v = schedule::virtual_stage_of(plan_of_passes(plan), chunk, stage);
                const PartCounts& counts = parts[static_cast<std::size_t>(v)];
                for (std::size_t part = 0; part < kParts; ++part) {
                    p.dense += counts[part] * each[part].dense;
                    p.experts += counts[part] * each[part].experts;
                }
            }
            extremes.least_dense = stage == 0 ? p.dense : std::min(extremes.least_dense, p.dense);
            extremes.least_experts = stage == 0 ? p.experts : std::min(extremes.least_experts, p.experts);
            extremes.most = std::max(extremes.most, p.dense + p.experts);
        }
    }
    return found->second;
}

double GridFloor::memory_bytes(const Candidate& plan) {
    const models::Plan& base = inputs_.plan;
    const bool has_weights = plan.optimizer != models::OptimizerSharding::kFsdp || !base.reshard_after_forward;
    const double whole_bytes =
        (has_weights ? base.weight_bytes : 0) + (shards_gradients(plan.optimizer) ? 0 : base.gradient_bytes);
    return (whole_bytes > 0 ? extremes_of(plan).most * whole_bytes : 0) * kBelow + inputs_.machine.tile.reserved_bytes;
}

double GridFloor::optimizer_s(const Candidate& plan) {
    // What shards gradients sums them in its passes; zero-2 gathers behind them, over groups that may be parts.
    if (overlaps(plan, schedule::Stream::kDp) || shards_gradients(plan.optimizer) || inputs_.plan.shard_replicas > 1) {
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
    const auto [found, is_new] = times_.try_emplace({&costs, overlap_of_passes(plan)});
    if (is_new) {
        const auto fill = [&](const std::array<PartCosts, kParts>& parts, std::array<double, kParts>& seconds) {
            for (std::size_t part = 0; part < kParts; ++part) {
                seconds[part] = parts[part].compute_s;
                for (const schedule::Operation& op : parts[part].communications) {
                    seconds[part] += overlaps(plan, op) ? 0 : floor_s(op) * (op.routed ? costs.least_load : 1);
                }
            }
        };
        PartTimes& times = found->second;
        fill(costs.forward, times.forward_s);
        fill(costs.backward, times.backward_s);
        if (splits_backward(plan.schedule)) {
            std::array<double, kParts> input_s{}, weight_s{};
            fill(costs.input, input_s);
            fill(costs.weight, weight_s);
            for (std::size_t part = 0; part < kParts; ++part) {
                times.backward_s[part] = std::min(times.backward_s[part], input_s[part] + weight_s[part]);
            }
        }
        for (std::size_t part = 0; part < kParts; ++part) {
            times.shards_s[part] =
                shards_of_passes(costs, part, plan.schedule, [this](const auto& op) { return floor_s(op); });
        }
    }
    return found->second;
}

const std::vector<double>& GridFloor::messages_s(const Candidate& c) {
    const auto [found, is_new] = messages_.try_emplace({chunks_of(c), c.micro_batch_size, c.sequence_parallel});
    if (is_new) {
        const models::Plan plan = plan_with_layers(c, inputs_);
        for (int v = 0; v < schedule::virtual_stages_in_all(plan); ++v) {
            const bool counts = !schedule::is_last_part(plan, v) && !schedule::is_local_boundary(plan, v) &&
                                leaves_node_[static_cast<std::size_t>(first_of_ends(plan, v))];
            found->second.push_back(counts ? schedule::message_bytes(inputs_.workload, plan, inputs_.stack, v) /
                                                 transport_bytes_per_s_
                                           : 0);
        }
    }
    return found->second;
}

double GridFloor::bound_s(const Candidate& c, const PartTimes& times, double optimizer_s, bool blocks) {
    const std::vector<PartCounts>& parts = table_.parts_of(c);
    std::vector<double> forward_s(parts.size()), backward_s(parts.size()), shards_s(parts.size());
    for (std::size_t v = 0; v < parts.size(); ++v) {
        for (std::size_t part = 0; part < kParts; ++part) {
            forward_s[v] += times.forward_s[part] * parts[v][part];
            backward_s[v] += times.backward_s[part] * parts[v][part];
            shards_s[v] += times.shards_s[part] * parts[v][part];
        }
    }
    const std::vector<double>& messages = messages_s(c);
    const std::vector<std::vector<double>> optimizer(static_cast<std::size_t>(c.pp), {optimizer_s});
    return bound_of(c, {.forward_s = forward_s,
                        .backward_s = backward_s,
                        .shards_s = shards_s,
                        .blocks_shards = !overlaps(c, schedule::Stream::kDp),
                        .message_s = messages,
                        .back_s = messages,
                        .blocks_messages = blocks,
                        .optimizer_s = optimizer,
                        .is_among_others = inputs_.plan.post_validation});
}

double GridFloor::of(const Candidate& plan) {
    if (cpu_) {
        return cpu_->kernels_s(plan);
    }
    const bool blocks = inputs_.stack.blocking_sends && !overlaps(plan, schedule::Stream::kPp);
    return bound_s(plan, times_of(plan), optimizer_s(plan), blocks);
}

double GridFloor::of_any(const PlanSpace& space, std::size_t shape) {
    if (cpu_) {
        double least_s = std::numeric_limits<double>::infinity();
        for (const Candidate& plan : space.plans_of(shape)) {
            least_s = std::min(least_s, cpu_->kernels_s(plan));
        }
        return least_s;
    }
    const Candidate& like = space.shapes()[shape];
    const auto [least, is_new] = least_.try_emplace({like.micro_batch_size, splits_backward(like.schedule)});
    const auto [optimizer, is_new_optimizer] =
        least_optimizer_.try_emplace(chunks_of(like), std::numeric_limits<double>::infinity());
    if (is_new || is_new_optimizer) {
        const std::vector<Candidate> plans = space.plans_of(shape);
        PartTimes& times = least->second;
        times = is_new ? times_of(plans.front()) : times;
        for (const Candidate& plan : plans) {
            const PartTimes& own = times_of(plan);
            for (std::size_t part = 0; part < kParts; ++part) {
                times.forward_s[part] = std::min(times.forward_s[part], own.forward_s[part]);
                times.backward_s[part] = std::min(times.backward_s[part], own.backward_s[part]);
                times.shards_s[part] = std::min(times.shards_s[part], own.shards_s[part]);
            }
            optimizer->second = std::min(optimizer->second, optimizer_s(plan));
        }
    }
    Candidate smallest = like;  // its messages
    smallest.sequence_parallel = like.tp > 1;
    smallest.overlap = kOverlapDp;  // sums and gathers beside passes, where any plan has them so
    return bound_s(smallest, least->second, optimizer->second,
                   inputs_.stack.blocking_sends && !inputs_.stack.can_overlap_pp);
}

}  // namespace auspex::search
