/// @file Groups by plan, units by operation.
#include "schedule/program/sharding.hpp"

#include <algorithm>
#include <cmath>

namespace auspex::schedule {

ShardGroups shard_groups(const models::Plan& plan, bool experts) {
    using models::GroupKind;
    const GroupKind all = experts ? GroupKind::kExpertDp : GroupKind::kDenseDp;
    switch (plan.optimizer) {
        case models::OptimizerSharding::kReplicated: return {all, false};
        case models::OptimizerSharding::kSharded: return {experts ? all : GroupKind::kDenseDpOuter, true};
        default: break;
    }
    ShardGroups groups{all, true};
    if (plan.shard_replicas > 1) {
        groups = {experts ? GroupKind::kExpertShard : GroupKind::kDenseShard, true, GroupKind::kShardReplicas};
    }
    if (plan.reshard_ranks > 0) {
        groups.reshard = experts ? GroupKind::kExpertReshard : GroupKind::kDenseReshard;
    }
    return groups;
}

bool gathers_in_passes(const models::Plan& plan) { return plan.optimizer == models::OptimizerSharding::kFsdp; }

bool gathers_updated(const models::Plan& plan, const models::Stack& stack) {
    return stack.gathers_in_forward && plan.overlap_dp && !gathers_in_passes(plan) &&
           plan.optimizer != models::OptimizerSharding::kReplicated && !has_stages_twice(plan.schedule);
}

double expert_padding(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                      int ranks) {
    if (!stack.shards_by_expert || !gathers_in_passes(plan) || plan.ep > 1 || workload.num_experts == 0) {
        return 1;
    }
    const int of_a_rank = (workload.num_experts + ranks - 1) / ranks;
    return static_cast<double>(ranks) * of_a_rank / workload.num_experts;
}

bool shards_weights(const models::Plan& plan) { return gathers_in_passes(plan) && plan.reshard_after_forward; }

bool keeps_last_unit(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack) {
    const bool holds_one = plan.schedule != models::ScheduleKind::kGpipe || plan.micro_batches == 1;
    return stack.keeps_last_unit && shards_weights(plan) && holds_one && !workload.tied_embeddings;
}

bool casts_shards(const models::Plan& plan, const models::Stack& stack) {
    return stack.casts_shards && shards_weights(plan) && models::master_bytes(plan) > 0;
}

bool gradients_come_and_go(const models::Plan& plan, const models::Stack& stack) {
    return stack.frees_gradients && gathers_in_passes(plan) && plan.micro_batches == 1;
}

SummedParts summed_parts(const models::Plan& plan, const models::Layout& layout, const StageParameters& bucket) {
    const auto is_shared = [&](bool experts) {
        return plan.shard_replicas > 1 || group_size(layout, shard_groups(plan, experts).shard) > 1;
    };
    return {bucket.dense > 0 && (is_shared(false) || bucket.summed_over_tp > 0), bucket.experts > 0 && is_shared(true)};
}

double mirrored_elements(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                         const models::Layout& layout, int stage, int chunk) {
    const OptimizerShards shards = optimizer_shards(plan, layout);
    double elements = 0;
    for (const StageParameters& part : sharded_parts_of(workload, plan, stack, stage, chunk)) {
        elements += std::ceil(part.dense / shards.dense) + std::ceil(part.experts / shards.experts);
    }
    return elements;
}

bool has_one_table(const models::Workload& workload, const models::Plan& plan) {
    return workload.tied_embeddings && tied_copy_parameters(workload, plan) == 0;
}

std::optional<int> unit_of(const Operation& op, LayerRange layers, bool is_tied) {
    if (op.comm != CommKind::kNone) {
        return std::nullopt;
    }
    if (op.kind == OpKind::kEmbedding && layers.first > 0) {  // of a prediction module, by the head's copy of the table
        return unit_of_head(layers);
    }
    if (op.layer >= 0 && op.kind != OpKind::kEmbedding) {
        return unit_of_layer(layers, op.layer);
    }
    switch (op.kind) {
        case OpKind::kEmbedding: return unit_of_embedding(layers);
        case OpKind::kLmHead: return is_tied ? unit_of_embedding(layers) : unit_of_head(layers);
        case OpKind::kFinalNorm: return unit_of_head(layers);
        default: return std::nullopt;
    }
}

std::vector<UnitEnds> last_reads(const Program& program, const Block& block, LayerRange layers, bool is_tied,
                                 std::optional<int> held) {
    std::vector<UnitEnds> ends;
    if (held) {
        ends.push_back({*held, 0});
    }
    const std::span<const Operation> operations = program.operations_of(block);
    for (const Operation& op : operations) {
        const bool gathers = op.kind == OpKind::kParameterGatherDense || op.kind == OpKind::kParameterGatherExperts;
        if (gathers && op.unit >= 0 && std::ranges::find(ends, int{op.unit}, &UnitEnds::unit) == ends.end()) {
            ends.push_back({op.unit, 0});
        }
    }
    for (std::uint32_t i = 0; i < operations.size() && !ends.empty(); ++i) {
        const std::optional<int> unit = unit_of(operations[i], layers, is_tied);
        // gradients of weights outside the layers are made of activations alone
        const bool reads = operations[i].layer >= 0 || operations[i].phase != Phase::kBackwardWeight;
        const auto end = unit && reads ? std::ranges::find(ends, *unit, &UnitEnds::unit) : ends.end();
        if (end != ends.end()) {
            end->operation = i;
        }
    }
    return ends;
}

std::vector<UnitEnds> last_sums(const Program& program, const Block& block, bool experts) {
    std::vector<UnitEnds> ends;
    const std::span<const Operation> operations = program.operations_of(block);
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
        const Operation& op = operations[i];
        const bool is_sum = experts
                                ? op.kind == OpKind::kGradientReduceExperts
                                : op.kind == OpKind::kGradientReduceDense || op.kind == OpKind::kGradientTpAllReduce;
        if (!is_sum || op.unit < 0) {
            continue;
        }
        const auto end = std::ranges::find(ends, int{op.unit}, &UnitEnds::unit);
        if (end == ends.end()) {
            ends.push_back({op.unit, i});
        } else {
            end->operation = i;
        }
    }
    return ends;
}

}  // namespace auspex::schedule
