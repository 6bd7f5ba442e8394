#pragma once
/// @file Words for some of a model's layers.
#include <optional>
#include <string>
#include <vector>

namespace auspex::evaluate {

/// So many layers of `of`; of 0: of each stage.
struct LayersSaid {
    int count = 0, of = 0;
};

/// Some of the layers, whole, of words that say nothing else ("percent" for a sign of it, and no "of"):
/// - 1 of N: "every 2nd layer", "each third layer", "every 4 layers", "alternate layers", torchtitan's "selective 2";
/// - N of 100: "50 percent layers", "selective 50 percent";
/// - N of M: "20 32 layers", for 20 of 32;
/// - N of each stage: "20 layers", "first 20 layers", "full, 20 layers" (but 1: Megatron-LM's groups of one).
/// Nothing for other words, and for numbers that are no such share.
[[nodiscard]] std::optional<LayersSaid> layers_said(const std::vector<std::string>& words);

}  // namespace auspex::evaluate
