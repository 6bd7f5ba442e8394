#pragma once
/// @file What of a layer is computed again in the backward pass instead of being kept.
#include <array>
#include <string_view>

#include "base/json_forward.hpp"

namespace auspex::models {

struct Recompute {
    bool norm = false, attention = false;
    bool expert = false;          ///< the feed-forward, dense or MoE
    bool core_attention = false;  ///< of attention what reads queries, keys and values; its output is kept
    bool latent_up = false;       ///< of latent attention the projections from the latents up, and the rotation
    bool activation = false;      ///< of a feed-forward the activation, of routed experts or dense
    bool shared_experts = false;
    /// Of attention and dense feed-forwards every second product with weights, in the order of a layer: keys, the
    /// output of attention, the feed-forward's second projection up. With norm and activation, which are set with it:
    /// selective checkpoints by operation, as torchtitan makes them.
    bool alternate_products = false;
    bool layer = false;  ///< norm, attention and expert in one go: nothing is kept but the layer's input
    bool operator==(const Recompute&) const = default;
};

struct RecomputeWord {
    std::string_view word;  ///< in files
    bool Recompute::*part;
};
inline constexpr std::array<RecomputeWord, 9> kRecomputeWords{{{"norm", &Recompute::norm},
                                                               {"attention", &Recompute::attention},
                                                               {"expert", &Recompute::expert},
                                                               {"core_attention", &Recompute::core_attention},
                                                               {"latent_up", &Recompute::latent_up},
                                                               {"activation", &Recompute::activation},
                                                               {"shared_experts", &Recompute::shared_experts},
                                                               {"alternate_products", &Recompute::alternate_products},
                                                               {"layer", &Recompute::layer}}};

/// A list of words, each once. Throws InputError also for a word with one that it is a part of.
[[nodiscard]] Recompute read_recompute(const JsonValue& list);

}  // namespace auspex::models
