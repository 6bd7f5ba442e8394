/// @file Buckets filled unit by unit.
#include "schedule/program/gradient_buckets.hpp"

namespace auspex::schedule {
namespace {

struct Unit {
    int index = 0;
    StageParameters parameters;
};

/// Those that sit on the virtual stage.
std::vector<Unit> units_of(const models::Workload& workload, const models::Plan& plan, int v) {
    const LayerRange range = layers_of(workload, plan, v);
    std::vector<Unit> units;
    if (v == last_virtual_stage_of(plan)) {
        units.push_back({kUnitOfHead, head_parameters(workload, plan, v)});
    }
    for (int layer = range.last - 1; layer >= range.first; --layer) {
        units.push_back({unit_of_layer(range, layer), layer_parameters(workload, plan, layer)});
    }
    if (v == 0) {
        units.push_back({unit_of_embedding(range), embedding_parameters(workload, plan, v)});
    }
    return units;
}

}  // namespace

bool reduces_buckets(const models::Plan& plan, const models::Stack& stack) {
    const bool scatters = plan.optimizer != models::OptimizerSharding::kReplicated;
    return !shards_gradients(plan.optimizer) && stack.reduction == models::Reduction::kBucketed && plan.overlap_dp &&
           (stack.reduce_scatter_overlaps || !scatters);
}

bool sums_in_passes(const models::Plan& plan, const models::Stack& stack) {
    return shards_gradients(plan.optimizer) || reduces_buckets(plan, stack);
}

std::vector<GradientBucket> gradient_buckets(const models::Workload& workload, const models::Plan& plan,
                                             const models::Stack& stack, int virtual_stage) {
    const bool by_unit = plan.optimizer == models::OptimizerSharding::kFsdp;  // each is gathered by itself, too
    std::vector<GradientBucket> buckets;
    if (!sums_in_passes(plan, stack)) {
        return buckets;
    }
    const std::vector<Unit> units = units_of(workload, plan, virtual_stage);
    bool is_full = true;
    for (const Unit& unit : units) {
        if (is_full) {
            buckets.push_back({unit.index, unit.index, {}});
        }
        GradientBucket& bucket = buckets.back();
        bucket.last = unit.index + 1;
        bucket.parameters += unit.parameters;
        is_full = by_unit ||
                  (bucket.parameters.dense + bucket.parameters.experts) * plan.gradient_bytes >= stack.bucket_bytes;
    }
    return buckets;
}

std::vector<StageParameters> sharded_parts(const models::Workload& workload, const models::Plan& plan,
                                           const models::Stack& stack, int stage) {
    std::vector<StageParameters> parts;
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        const int v = virtual_stage_of(plan, chunk, stage);
        const std::vector<GradientBucket> buckets = gradient_buckets(workload, plan, stack, v);
        for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
            parts.push_back(bucket->parameters);
        }
    }
    return parts.empty() ? std::vector{stage_parameters(workload, plan, stage)} : parts;
}

}  // namespace auspex::schedule
