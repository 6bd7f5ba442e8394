#pragma once
/// @file Words for some of a model's layers.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auspex::evaluate {

/// How many of a stage's `stage` layers a text means that speaks of nothing else, `words` being its words (words_in):
///   "every 2nd layer", "each third layer", "alternate layers", "selective 2" (torchtitan's)   stage / 2, stage / 3,
///   ... "50% of layers", "selective 50%"                                                           stage / 2 "20
///   layers", "first 20 layers", "full, 20 layers"   20, or, where a stage has fewer, its share of `layers` "20 of 80
///   layers"                                    its share
/// At least 1 and at most `stage`. Nothing for other texts.
[[nodiscard]] std::optional<int> layers_said(std::string_view text, const std::vector<std::string>& words, int layers,
                                             int stage);

}  // namespace auspex::evaluate
