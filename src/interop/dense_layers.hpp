#pragma once
/// @file Which layers of a config.json have no experts.
#include "interop/config_keys.hpp"

namespace auspex::interop {

/// How many of a model's `layers` are dense, all in front of those with experts, by any of the keys that families say
/// it with (first_k_dense_replace, mlp_only_layers, mlp_layer_types, moe_layers); 0 where none is there, unless it is
/// `required`. Throws InputError where dense layers stand elsewhere, or keys disagree.
[[nodiscard]] int first_dense_layers(ConfigKeys& keys, int layers, bool required);

}  // namespace auspex::interop
