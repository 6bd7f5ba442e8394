#pragma once
/// @file Which gradients are summed together while backward passes go on, and what optimizer shards are cut from.
#include <vector>

#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// Units of a model chunk, in the order in which its backward pass completes their gradients: prediction modules from
/// the last, the LM head with the final norm, which all of them use, then come the layers from the last, behind them
/// the embedding.
[[nodiscard]] constexpr int unit_of_layer(LayerRange layers, int layer) {
    return layers.last - layer - (layer >= layers.last - layers.predictions ? 1 : 0);
}
[[nodiscard]] constexpr int unit_of_embedding(LayerRange layers) { return layers.last - layers.first + 1; }
[[nodiscard]] constexpr int unit_of_head(LayerRange layers) { return layers.predictions; }
inline constexpr int kUnitOfHead = 0;  ///< of a model without prediction modules

/// Units [first, last) of a chunk.
struct GradientBucket {
    int first = 0, last = 0;
    StageParameters parameters;
};
/// Gradients are summed in backward passes: of every micro-batch where they are sharded, else of the last.
[[nodiscard]] bool sums_in_passes(const models::Plan& plan, const models::Stack& stack);
/// Of a virtual stage, in the order in which they fill: with fsdp each unit by itself; with zero-2, and with buckets
/// that are summed as they fill (reduces_buckets), as many units as reach stack.bucket_bytes (0 of a stack that has
/// none), the last with what is left. None where all gradients are summed behind the last pass.
[[nodiscard]] std::vector<GradientBucket> gradient_buckets(const models::Workload& workload, const models::Plan& plan,
                                                           const models::Stack& stack, int virtual_stage);

/// Parameters of a stage that are cut into optimizer shards by themselves: all of them together, or bucket by bucket,
/// chunk after chunk, in the order of the model: embedding, layers, head. Where stages are there twice chunks are cut
/// apart.
[[nodiscard]] std::vector<StageParameters> sharded_parts(const models::Workload& workload, const models::Plan& plan,
                                                         const models::Stack& stack, int stage);
/// Of one chunk by itself.
[[nodiscard]] std::vector<StageParameters> sharded_parts_of(const models::Workload& workload, const models::Plan& plan,
                                                            const models::Stack& stack, int stage, int chunk);
/// Of them those that the stage's ranks update (updated_parameters).
[[nodiscard]] std::vector<StageParameters> updated_parts(const models::Workload& workload, const models::Plan& plan,
                                                         const models::Stack& stack, int stage);

}  // namespace auspex::schedule
