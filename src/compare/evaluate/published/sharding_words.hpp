#pragma once
/// @file Words of ZeRO, FSDP and distributed optimizers.
#include <cstdint>
#include <string>
#include <string_view>

#include "compare/evaluate/published/published_run.hpp"

namespace auspex::evaluate {

enum class Sharded : std::uint8_t { kUnstated, kNothing, kStates, kGradients, kWeights, kUnknown };
/// By the case's `zero` and `fsdp`; "DP 8 + ZeRO-1" is what its ZeRO says.
[[nodiscard]] Sharded sharded_of(const PublishedRun& run);
/// The case has both `zero` and `fsdp`, and weights are sharded by one of them alone.
[[nodiscard]] bool contradicts_fsdp(const PublishedRun& run);
/// The case says that weights are sharded (FSDP, ZeRO-3 and what is made of them), or does not say.
[[nodiscard]] bool may_shard_weights(const PublishedRun& run);

/// The case says that weights are sharded, over all ranks: no hybrid, and no second copy in each node.
[[nodiscard]] bool shards_over_all(const PublishedRun& run);

/// In small letters, without the names in front: "ZeRO-1", "DeepSpeed zero stage 1", "z1" and "Stage 1" are "1".
[[nodiscard]] std::string zero_words(std::string_view said);
/// Of such words: groups of ranks shard by themselves.
[[nodiscard]] bool is_hybrid(std::string_view zero);
/// ZeRO++ keeps a second copy of the weights in each node (hpZ), from which the backward pass gathers them.
[[nodiscard]] bool has_second_copy(std::string_view zero);
/// FSDP gathers weights in front of a micro-batch's forward pass and keeps them until its backward pass is over.
[[nodiscard]] bool keeps_weights(std::string_view zero);

}  // namespace auspex::evaluate
