#pragma once
/// @file The keys of a plan file that say how states, gradients and weights are sharded.
#include <cstddef>

#include "base/json.hpp"

namespace auspex::models {

struct ShardingKeys {
    std::size_t optimizer = 1;  ///< place among the words: OptimizerSharding
    int shard_replicas = 1;
    bool reshard_after_forward = true;
    int prefetch = 1;
};
/// "optimizer", "shard_replicas", "reshard_after_forward", "prefetch". Throws InputError where a key is there without
/// the optimizer that it belongs to.
[[nodiscard]] ShardingKeys read_sharding(const JsonValue& root);

}  // namespace auspex::models
