/// @file Weights, gradients, optimizer states.
#include "schedule/memory/memory_fixed.hpp"

#include <algorithm>

namespace auspex::schedule {

double gathered_units(const models::Workload& workload, const models::Plan& plan, int stage) {
    if (plan.optimizer != models::OptimizerSharding::kFsdp) {
        return 0;
    }
    double largest = 0;
    for (const StageParameters& unit : stage_units(workload, plan, stage)) {
        largest = std::max(largest, unit.dense + unit.experts);
    }
    return 2 * largest * (plan.weight_bytes + plan.gradient_bytes);
}

double router_bias_bytes(const models::Workload& workload, const models::Plan& plan, int stage) {
    constexpr double kBiasAndCount = 4 + 4;
    double layers = 0;
    for (int chunk = 0; workload.router_bias && chunk < plan.virtual_stages; ++chunk) {
        const LayerRange range = layers_of(workload, plan, virtual_stage_of(plan, chunk, stage));
        layers += range.last - std::clamp(workload.first_dense_layers, range.first, range.last);
    }
    return layers * workload.num_experts * kBiasAndCount;
}

FixedBytes fixed_bytes(const models::Plan& plan, const models::Stack& stack, const models::Layout& layout, double held,
                       double states, double units) {
    FixedBytes bytes{};
    const bool buckets = stack.gradient_buckets && plan.optimizer != models::OptimizerSharding::kFsdp &&
                         group_size(layout, models::GroupKind::kDenseDp) > 1;
    const auto set = [&](MemoryLabel label, double amount) { bytes[static_cast<std::size_t>(label)] = amount; };
    set(MemoryLabel::kWeights, held * plan.weight_bytes);
    set(MemoryLabel::kGradients, held * (plan.gradient_bytes + (buckets ? plan.weight_bytes : 0)));
    set(MemoryLabel::kMasterWeights, plan.weight_bytes < 4 ? states * 4 : 0);
    set(MemoryLabel::kMoments, states * 8);
    set(MemoryLabel::kCommunication, units);
    return bytes;
}

FixedBytes even_fixed_bytes(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                            const models::Layout& layout, int stage) {
    const StageParameters p = stage_parameters(workload, plan, stage);
    const OptimizerShards shards = optimizer_shards(plan, layout);
    const double states = p.dense / shards.dense + p.experts / shards.experts;
    const double held = plan.optimizer == models::OptimizerSharding::kFsdp ? states : p.dense + p.experts;
    FixedBytes bytes = fixed_bytes(plan, stack, layout, held, states, gathered_units(workload, plan, stage));
    bytes[static_cast<std::size_t>(MemoryLabel::kWeights)] += router_bias_bytes(workload, plan, stage);
    return bytes;
}

double runtime_bytes(const models::Stack& stack, const models::Machine& machine, const BytesByLabel& come_and_go) {
    double bytes = 0;
    for (const std::int64_t amount : come_and_go) {
        bytes += static_cast<double>(amount);
    }
    return machine.tile.reserved_bytes + stack.fragmentation * bytes;
}

}  // namespace auspex::schedule
