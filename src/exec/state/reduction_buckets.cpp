/// @file Units of a chunk to ranges of arrays.
#include "exec/state/reduction_buckets.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::exec {
namespace {

/// The unit of a chunk with these layers that a tensor belongs to, if it is one of a layer.
std::optional<int> unit_of_layer_tensor(const Parameter& p, schedule::LayerRange layers) {
    return p.layer >= layers.first && p.layer < layers.last ? std::optional(schedule::unit_of_layer(layers, p.layer))
                                                            : std::nullopt;
}

/// Outside the layers there are the embedding with learned positions, and final norm and LM head.
std::optional<int> unit_of(const Parameter& p, const ParameterTable& table, schedule::LayerRange layers) {
    if (p.layer >= 0) {
        return unit_of_layer_tensor(p, layers);
    }
    const bool is_input = p.offset == table.embedding || p.offset == table.positions;
    return is_input ? schedule::unit_of_embedding(layers) : schedule::kUnitOfHead;
}

FlatRange range_of(const std::vector<Parameter>& tensors, const ParameterTable& table, schedule::LayerRange layers,
                   const schedule::GradientBucket& bucket) {
    FlatRange range{static_cast<std::size_t>(-1), 0};
    std::size_t size = 0;
    for (const Parameter& p : tensors) {
        const std::optional<int> unit = unit_of(p, table, layers);
        if (unit && *unit >= bucket.first && *unit < bucket.last) {
            range.begin = std::min(range.begin, p.offset);
            range.end = std::max(range.end, p.offset + p.size);
            size += p.size;
        }
    }
    AUSPEX_CHECK(size == 0 || range.size() == size, "units that follow one another lie beside one another");
    return size == 0 ? FlatRange{} : range;
}

}  // namespace

std::vector<ReductionBucket> reduction_buckets(const models::Workload& workload, const models::Plan& plan,
                                               const models::Stack& stack, const models::Layout& layout,
                                               const ParameterTable& table, int stage) {
    std::vector<ReductionBucket> buckets;
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        const int v = schedule::virtual_stage_of(plan, chunk, stage);
        const schedule::LayerRange layers = schedule::layers_of(workload, plan, v);
        for (const schedule::GradientBucket& bucket : schedule::gradient_buckets(workload, plan, stack, v)) {
            const schedule::SummedParts summed = shards_gradients(plan.optimizer)
                                                     ? schedule::summed_parts(plan, layout, bucket.parameters)
                                                     : schedule::SummedParts{};
            buckets.push_back({chunk, bucket.first, bucket.last - 1, range_of(table.dense, table, layers, bucket),
                               range_of(table.experts, table, layers, bucket), summed.dense, summed.experts});
        }
    }
    return buckets;
}

}  // namespace auspex::exec
