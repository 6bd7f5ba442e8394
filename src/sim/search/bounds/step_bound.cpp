/// @file Bounds as sums over stages.
#include "sim/search/bounds/step_bound.hpp"

#include <algorithm>
#include <limits>

#include "models/group_ranks.hpp"
#include "schedule/program/block_builder.hpp"
#include "sim/engine/cost_program.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/operation_costs.hpp"
#include "sim/network/node/node_paths.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {
namespace {

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

/// Of overlap, what changes passes.
int overlap_of_passes(const Candidate& c) { return c.overlap & (kOverlapTp | kOverlapEp); }

/// For what asks nothing else of a plan that would have to be resolved.
models::Plan plan_with_layers(const Candidate& c, const models::Inputs& inputs) {
    models::Plan plan = plan_of(c, inputs.plan);
    plan.stage_layers = stage_layers_of(c, inputs);
    return plan;
}

}  // namespace

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
    return {schedule::layer_parameters(model, plan, 0), schedule::layer_parameters(model, plan, last),
            schedule::embedding_parameters(model, plan, 0),
            schedule::head_parameters(model, plan, schedule::last_virtual_stage_of(plan)), schedule::StageParameters{}};
}

const GridFloor::StageExtremes& GridFloor::extremes_of(const Candidate& plan) {
    const auto [found, is_new] = extremes_.try_emplace({plan.virtual_stages, plan.stages});
    if (is_new) {
        StageExtremes& extremes = found->second;
        const std::array<schedule::StageParameters, kParts> each = parameters_of(plan);
        const std::vector<PartCounts>& parts = table_.parts_of(plan);
        for (int stage = 0; stage < plan.pp; ++stage) {
            schedule::StageParameters p;
            for (int v = stage; v < plan.pp * plan.virtual_stages; v += plan.pp) {
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
    const auto [found, is_new] = times_.try_emplace({&costs, overlap_of_passes(plan)});
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

const std::vector<double>& GridFloor::messages_s(const Candidate& c) {
    const auto [found, is_new] =
        messages_.try_emplace({c.virtual_stages, c.stages, c.micro_batch_size, c.sequence_parallel});
    if (is_new) {
        const models::Plan plan = plan_with_layers(c, inputs_);
        const int last = c.pp * c.virtual_stages - 1;
        for (int v = 0; v <= last; ++v) {
            const bool counts = v < last && leaves_node_[static_cast<std::size_t>(v % c.pp)];
            found->second.push_back(counts ? schedule::message_bytes(inputs_.workload, plan, inputs_.stack, v) /
                                                 transport_bytes_per_s_
                                           : 0);
        }
    }
    return found->second;
}

double GridFloor::bound_s(const Candidate& c, const PartTimes& times, double optimizer_s, bool blocks) {
    const std::vector<PartCounts>& parts = table_.parts_of(c);
    std::vector<double> forward_s(parts.size()), backward_s(parts.size());
    for (std::size_t v = 0; v < parts.size(); ++v) {
        for (std::size_t part = 0; part < kParts; ++part) {
            forward_s[v] += times.forward_s[part] * parts[v][part];
            backward_s[v] += times.backward_s[part] * parts[v][part];
        }
    }
    const std::vector<double>& messages = messages_s(c);
    const std::vector<std::vector<double>> optimizer(static_cast<std::size_t>(c.pp), {optimizer_s});
    return bound_of(c, {forward_s, backward_s, messages, messages, blocks, optimizer});
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
    const auto [least, is_new] = least_.try_emplace(like.micro_batch_size);
    const auto [optimizer, is_new_optimizer] =
        least_optimizer_.try_emplace({like.virtual_stages, like.stages}, std::numeric_limits<double>::infinity());
    if (is_new || is_new_optimizer) {
        const std::vector<Candidate> plans = space.plans_of(shape);
        PartTimes& times = least->second;
        times = is_new ? times_of(plans.front()) : times;
        for (const Candidate& plan : plans) {
            const PartTimes& own = times_of(plan);
            for (std::size_t part = 0; part < kParts; ++part) {
                times.forward_s[part] = std::min(times.forward_s[part], own.forward_s[part]);
                times.backward_s[part] = std::min(times.backward_s[part], own.backward_s[part]);
            }
            optimizer->second = std::min(optimizer->second, optimizer_s(plan));
        }
    }
    Candidate smallest = like;  // its messages
    smallest.sequence_parallel = like.tp > 1;
    return bound_s(smallest, least->second, optimizer->second,
                   inputs_.stack.blocking_sends && !inputs_.stack.can_overlap_pp);
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
    return {passes.forward_s, passes.backward_s, messages.next_s, messages.back_s, blocks, optimizer};
}

const GridBound::PassTimes& GridBound::passes_of(const Candidate& c) {
    const LayerCosts& costs = table_.of(c);
    const auto [found, is_new] = passes_.try_emplace({&costs, c.virtual_stages, c.stages, overlap_of_passes(c)});
    if (is_new) {
        std::vector<PartTimes>& known = parts_[{&costs, overlap_of_passes(c)}];
        known.resize(static_cast<std::size_t>(c.pp));
        const std::vector<PartCounts>& parts = table_.parts_of(c);
        for (int v = 0; v < c.pp * c.virtual_stages; ++v) {
            PartTimes& own = known[static_cast<std::size_t>(v % c.pp)];
            const PartCounts& counts = parts[static_cast<std::size_t>(v)];
            double forward_s = 0, backward_s = 0;
            for (std::size_t part = 0; part < kParts; ++part) {
                if (counts[part] > 0) {
                    forward_s += part_s(own.forward_s[part], costs.forward[part], c, v % c.pp) * counts[part];
                    backward_s += part_s(own.backward_s[part], costs.backward[part], c, v % c.pp) * counts[part];
                }
            }
            found->second.forward_s.push_back(forward_s);
            found->second.backward_s.push_back(backward_s);
        }
    }
    return found->second;
}

const GridBound::MessageTimes& GridBound::messages_of(const Candidate& c) {
    const auto [found, is_new] =
        messages_.try_emplace({c.virtual_stages, c.stages, c.micro_batch_size, c.sequence_parallel});
    if (is_new) {
        const models::Plan plan = plan_with_layers(c, inputs_);
        const int last = c.pp * c.virtual_stages - 1;
        schedule::Operation message;
        message.comm = schedule::CommKind::kSend;
        for (int v = 0; v < last; ++v) {
            message.bytes = schedule::message_bytes(inputs_.workload, plan, inputs_.stack, v);
            message.group = models::GroupKind::kNextStage;
            found->second.next_s.push_back(solo_s(message, v % c.pp));
            message.group = models::GroupKind::kPreviousStage;
            found->second.back_s.push_back(solo_s(message, (v + 1) % c.pp));
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
            *known_s += overlaps(c, op.stream) ? 0 : solo_s(op, stage);
        }
    }
    return *known_s;
}

double GridBound::solo_s(const schedule::Operation& op, int stage) {
    const auto [found, is_new] = solo_.try_emplace({op.comm, op.group, stage, op.bytes, op.repeat});
    if (is_new) {
        const network::Transfer transfer = network_.unroll(op.comm, op.group, stage, op.bytes);
        found->second = to_seconds(network_.solo_duration(transfer, op.repeat));
    }
    return found->second;
}

const std::vector<std::vector<double>>& GridBound::optimizer_of(const Candidate& c) {
    const bool overlaps_dp = overlaps(c, schedule::Stream::kDp);
    const auto [found, is_new] =
        optimizers_.try_emplace({c.optimizer, c.virtual_stages, c.stages, overlaps_dp, c.sequence_parallel});
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
    const bool is_reduced = plan.optimizer == models::OptimizerSharding::kFsdp ||
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
    const bool is_reduced = plan.optimizer == models::OptimizerSharding::kFsdp || overlaps_dp;
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
