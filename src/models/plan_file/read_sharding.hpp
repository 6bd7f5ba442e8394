#pragma once
/// @file The keys of a plan file that say how states, gradients and weights are sharded.
#include "base/json.hpp"
#include "models/plan.hpp"

namespace auspex::models {

/// "optimizer", "shard_replicas", "reshard_after_forward", "prefetch". Throws InputError where a key is there without
/// the optimizer that it belongs to.
void read_sharding(const JsonValue& root, Plan& plan);

}  // namespace auspex::models
