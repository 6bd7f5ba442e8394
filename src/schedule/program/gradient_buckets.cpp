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
    const auto add_layers = [&](int from, int to) {
        for (int layer = from; layer >= to; --layer) {
            units.push_back({unit_of_layer(range, layer), layer_parameters(workload, plan, layer)});
        }
    };
    const int own_last = range.last - range.predictions;
    add_layers(range.last - 1, own_last);
    if (is_last_part(plan, v)) {
        units.push_back({unit_of_head(range), head_parameters(workload, plan, v)});
    }
    add_layers(own_last - 1, range.first);
    if (is_first_part(plan, v)) {
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
    if (!sums_in_passes(plan, stack) && !has_stages_twice(plan.schedule)) {
        return {stage_parameters(workload, plan, stage)};
    }
    std::vector<StageParameters> parts;
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        const std::vector<StageParameters> own = sharded_parts_of(workload, plan, stack, stage, chunk);
        parts.insert(parts.end(), own.begin(), own.end());
    }
    return parts;
}

std::vector<StageParameters> sharded_parts_of(const models::Workload& workload, const models::Plan& plan,
                                              const models::Stack& stack, int stage, int chunk) {
    if (!sums_in_passes(plan, stack)) {
        return {chunk_parameters(workload, plan, stage, chunk)};
    }
    std::vector<StageParameters> parts;
    const std::vector<GradientBucket> buckets =
        gradient_buckets(workload, plan, stack, virtual_stage_of(plan, chunk, stage));
    for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
        parts.push_back(bucket->parameters);
    }
    return parts;
}

std::vector<StageParameters> updated_parts(const models::Workload& workload, const models::Plan& plan,
                                           const models::Stack& stack, int stage) {
    return has_stages_twice(plan.schedule) ? sharded_parts_of(workload, plan, stack, stage, 0)
                                           : sharded_parts(workload, plan, stack, stage);
}

}  // namespace auspex::schedule
