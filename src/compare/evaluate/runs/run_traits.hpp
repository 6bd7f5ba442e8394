#pragma once
/// @file What a published run is like, as it was predicted: by which errors are told apart.
#include <cstdint>

#include "models/inputs.hpp"

namespace auspex::evaluate {

/// Nothing; some of what a layer makes; all of it.
enum class Recomputed : std::uint8_t { kNone, kSelective, kFull };

struct RunTraits {
    bool is_fp8 = false, has_experts = false;
    bool are_weights_sharded = false;  ///< FSDP, ZeRO-3
    bool is_recompute_assumed = false;
    Recomputed recompute = Recomputed::kNone;
    int tp = 1, pp = 1, tiles = 0, sequence = 0;
    int tiles_per_card = 1, tiles_per_node = 1;
};
[[nodiscard]] RunTraits traits_of(const models::Inputs& inputs, int tiles);

}  // namespace auspex::evaluate
