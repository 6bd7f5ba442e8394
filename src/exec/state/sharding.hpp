#pragma once
/// @file Which shard of parameters and optimizer states a rank owns.
#include <cstddef>
#include <vector>

#include "exec/state/rank.hpp"

namespace auspex::exec {

/// A range of a flat array (dense or experts): what this rank updates.
struct ShardRange {
    std::size_t begin = 0, end = 0;
    [[nodiscard]] std::size_t size() const { return end - begin; }
};

template <class P>
struct OptimizerState {
    ShardRange dense, experts;
    Buffer<float> dense_master, experts_master;  ///< fp32 weights of the shard; empty where weights are not bf16
    Buffer<float> dense_m, dense_v, experts_m, experts_v;  ///< moments
};
/// (Fp64 keeps its moments in float too: it is for gradient checks.)

/// How a flat array is shared out among the ranks that hold all of it: over `shard_group`, unless it is replicated;
/// and who else owns the same shard.
struct Sharding {
    bool is_sharded = false;
    models::GroupKind shard_group = models::GroupKind::kExpertDp;
    std::vector<std::size_t> offsets;  ///< of the shards, and the array's size
    std::size_t shard_index = 0;       ///< this rank's among the shards
    models::GroupKind replica_group = models::GroupKind::kExpertDp;
    int replicas = 1, replica = 0;  ///< ranks that own the same shard, and this one's index among them
    [[nodiscard]] ShardRange range() const { return {offsets[shard_index], offsets[shard_index + 1]}; }
};
[[nodiscard]] Sharding sharding_of(const models::Plan& plan, const Communicator& communicator,
                                   const ParameterTable& table, bool experts);

}  // namespace auspex::exec
