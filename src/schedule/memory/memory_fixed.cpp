/// @file Weights, gradients, optimizer states.
#include "schedule/memory/memory_fixed.hpp"

#include <algorithm>
#include <cmath>

#include "schedule/program/block_builder.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {

double waiting_gradients(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                         const models::Layout& layout, int stage) {
    double waiting = 0;
    if (!shards_gradients(plan.optimizer) || !splits_backward(plan.schedule)) {
        return waiting;
    }
    for (const StageParameters& bucket : sharded_parts(workload, plan, stack, stage)) {
        const SummedParts parts = summed_parts(plan, layout, bucket);
        waiting += (parts.dense ? std::round(bucket.dense) : 0) + (parts.experts ? std::round(bucket.experts) : 0);
    }
    return waiting;
}

double bytes_beside_weights(const models::Workload& workload, const models::Plan& plan, int stage) {
    constexpr double kBiasAndCount = 4 + 4;
    double layers = 0;
    for (int chunk = 0; workload.router_bias && chunk < plan.virtual_stages; ++chunk) {
        const LayerRange range = layers_of(workload, plan, virtual_stage_of(plan, chunk, stage));
        layers += range.last - std::clamp(workload.first_dense_layers, range.first, range.last);
    }
    const double copies = 2 * narrow_bytes(plan.fp8);  // as they are and transposed
    const double bytes_in_fp8 = copies - (plan.fp8_weights_only ? plan.weight_bytes : 0);
    const double in_fp8 = shards_weights(plan) ? 0 : bytes_in_fp8 * parameters_in_fp8(workload, plan, stage);
    const StageParameters held = stage_parameters(workload, plan, stage);
    const bool has_reference = workload.objective == models::Objective::kDpo;
    const double of_reference = has_reference ? (held.dense + held.experts) * plan.weight_bytes : 0;
    return layers * workload.num_experts * kBiasAndCount + in_fp8 + of_reference;
}

FixedBytes fixed_bytes(const models::Plan& plan, const models::Stack& stack, const models::Layout& layout,
                       const HeldParameters& held) {
    FixedBytes bytes{};
    const bool shards = shards_gradients(plan.optimizer);
    const bool buckets = stack.gradient_buckets && !shards && group_size(layout, models::GroupKind::kDenseDp) > 1;
    const auto set = [&](MemoryLabel label, double amount) { bytes[static_cast<std::size_t>(label)] = amount; };
    const double resharded = plan.reshard_ranks > 0 ? held.whole / plan.reshard_ranks : 0;
    const double weights = (casts_shards(plan, stack) ? 0
                            : shards_weights(plan)    ? held.states
                                                      : held.whole) +
                           resharded;
    const double gradients = gradients_come_and_go(plan, stack) ? 0 : shards ? held.states : held.whole;
    set(MemoryLabel::kWeights, weights * plan.weight_bytes);
    set(MemoryLabel::kGradients, (gradients + held.waiting) * models::stored_gradient_bytes(plan) +
                                     (buckets ? held.whole * plan.weight_bytes : 0));
    set(MemoryLabel::kMasterWeights, held.states * models::master_bytes(plan));
    set(MemoryLabel::kMoments, held.states * models::moment_bytes(plan));
    return bytes;
}

FixedBytes even_fixed_bytes(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                            const models::Layout& layout, int stage) {
    const StageParameters p = stage_parameters(workload, plan, stage),
                          updated = updated_parameters(workload, plan, stage);
    const OptimizerShards shards = optimizer_shards(plan, layout);
    FixedBytes bytes =
        fixed_bytes(plan, stack, layout,
                    {p.dense + p.experts, updated.dense / shards.dense + updated.experts / shards.experts,
                     waiting_gradients(workload, plan, stack, layout, stage)});
    bytes[static_cast<std::size_t>(MemoryLabel::kWeights)] += bytes_beside_weights(workload, plan, stage);
    return bytes;
}

double fragment_bytes(const models::Stack& stack, const BytesByLabel& come_and_go) {
    double bytes = 0;
    for (const std::int64_t amount : come_and_go) {
        bytes += static_cast<double>(amount);
    }
    return stack.fragmentation * bytes;
}

}  // namespace auspex::schedule
