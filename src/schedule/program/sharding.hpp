#pragma once
/// @file Who shares a shard and who shards what: groups of ranks, and units of a chunk whose weights are gathered and
/// whose gradients are summed within a pass.
#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/program/gradient_buckets.hpp"

namespace auspex::schedule {

/// Of a part of the parameters, dense or experts.
struct ShardGroups {
    models::GroupKind shard;  ///< over which gradients are summed, and states sharded unless they are replicated
    bool is_sharded = false;
    /// Ranks that hold the same shard, and sum gradients beyond `shard`; none where shard_replicas is 1.
    std::optional<models::GroupKind> replicas{};
    /// From which a backward pass gathers weights.
    models::GroupKind reshard = shard;
};
[[nodiscard]] ShardGroups shard_groups(const models::Plan& plan, bool experts);

/// Weights are kept as shards, too, and a unit's are whole only while a pass needs them.
[[nodiscard]] bool shards_weights(const models::Plan& plan);
/// The last unit of the model's last part, final norm and LM head, stays gathered from a forward pass to its backward
/// pass: Stack::keeps_last_unit, where shards_weights and the table is not the embedding's. Not with gpipe and several
/// micro-batches, of which a library would hold one copy: gathered again there, as if it did not keep it.
[[nodiscard]] bool keeps_last_unit(const models::Workload& workload, const models::Plan& plan,
                                   const models::Stack& stack);
/// Ranks hold fp32 shards alone, of which the weights that passes gather are cast: Stack::casts_shards.
[[nodiscard]] bool casts_shards(const models::Plan& plan, const models::Stack& stack);
/// Gradients of a step are made by its backward pass and released by the update: Stack::frees_gradients with fsdp, and
/// one micro-batch. Of several the second finds those of the first: there all the time is then what the peak sees.
[[nodiscard]] bool gradients_come_and_go(const models::Plan& plan, const models::Stack& stack);
/// Passes gather weights: fsdp.
[[nodiscard]] bool gathers_in_passes(const models::Plan& plan);
/// The forward pass of a chunk's first micro-batch gathers updated weights: Stack::gathers_in_forward.
[[nodiscard]] bool gathers_updated(const models::Plan& plan, const models::Stack& stack);
/// What is gathered and summed of the experts' E weights over their own: n ceil(E / n) / E for n ranks that share them,
/// where fsdp shards them by experts (Stack::shards_by_expert) and ep is 1; else 1.
[[nodiscard]] double expert_padding(const models::Workload& workload, const models::Plan& plan,
                                    const models::Stack& stack, int ranks);

/// Where gradients are sharded: whether a micro-batch's gradients of a bucket are by themselves until they are summed.
/// Where nobody else has a part of them they are added to the rank's own at once.
struct SummedParts {
    bool dense = false, experts = false;
};
[[nodiscard]] SummedParts summed_parts(const models::Plan& plan, const models::Layout& layout,
                                       const StageParameters& bucket);

/// Elements that a rank sends its mirror of a chunk of its stage: the largest of the shards that the chunk's gradients
/// are cut into (shard_begin), dense and experts; shorter ones are filled up.
[[nodiscard]] double mirrored_elements(const models::Workload& workload, const models::Plan& plan,
                                       const models::Stack& stack, const models::Layout& layout, int stage, int chunk);

/// The unit whose weights the operation of a pass reads, or whose gradients it adds to; none of a communication, and of
/// what has no weights. `is_tied`: the LM head reads the embedding's table, which the same stage holds.
[[nodiscard]] std::optional<int> unit_of(const Operation& op, LayerRange layers, bool is_tied);
/// Embedding and LM head are one table on one stage.
[[nodiscard]] bool has_one_table(const models::Workload& workload, const models::Plan& plan);

/// What operations of a pass end (indices within the block).
struct UnitEnds {
    int unit = 0;
    std::uint32_t operation = 0;
};
/// Of each unit that the block gathers, and of one that it finds gathered (`held`): the last operation that reads its
/// weights.
[[nodiscard]] std::vector<UnitEnds> last_reads(const Program& program, const Block& block, LayerRange layers,
                                               bool is_tied, std::optional<int> held = {});
/// Of each bucket whose gradients the block sums (by its last unit) and of the part: the last sum, behind which the
/// rank adds its shard.
[[nodiscard]] std::vector<UnitEnds> last_sums(const Program& program, const Block& block, bool experts);

}  // namespace auspex::schedule
