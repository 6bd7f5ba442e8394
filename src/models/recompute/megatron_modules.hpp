#pragma once
/// @file Megatron-LM's words for what is computed again: --recompute-modules.
#include <array>
#include <string_view>

#include "models/recompute/recompute.hpp"

namespace auspex::models {

/// The feed-forward has two: of layers with experts, and of dense ones.
struct RecomputeModule {
    std::string_view name;
    bool Recompute::*part;
    bool of_experts = true, of_dense = true;  ///< layers that have it
};
inline constexpr std::array<RecomputeModule, 7> kRecomputeModules{
    {{"layernorm", &Recompute::norm},
     {"core_attn", &Recompute::core_attention},
     {"mla_up_proj", &Recompute::latent_up},
     {"moe_act", &Recompute::activation, true, false},
     {"shared_experts", &Recompute::shared_experts, true, false},
     {"moe", &Recompute::expert, true, false},
     {"mlp", &Recompute::expert, false, true}}};

}  // namespace auspex::models
