#pragma once
/// @file Words of Megatron-LM: arguments that no plan needs, modules that are recomputed.
#include <array>
#include <string_view>

#include "models/recompute/recompute.hpp"

namespace auspex::interop {

/// Whether an argument changes no cost of a step beside what the workload says of it.
[[nodiscard]] bool changes_no_cost(std::string_view argument);
/// Whether it is a name that the release in question (megatron.hpp) has no more.
[[nodiscard]] bool is_of_earlier_release(std::string_view argument);

/// Of --recompute-modules. The feed-forward has two: of layers with experts, and of dense ones.
struct RecomputeModule {
    std::string_view name;
    bool models::Recompute::*part;
    bool of_experts = true, of_dense = true;  ///< layers that have it
};
inline constexpr std::array<RecomputeModule, 7> kRecomputeModules{
    {{"layernorm", &models::Recompute::norm},
     {"core_attn", &models::Recompute::core_attention},
     {"mla_up_proj", &models::Recompute::latent_up},
     {"moe_act", &models::Recompute::activation, true, false},
     {"shared_experts", &models::Recompute::shared_experts, true, false},
     {"moe", &models::Recompute::expert, true, false},
     {"mlp", &models::Recompute::expert, false, true}}};

}  // namespace auspex::interop
