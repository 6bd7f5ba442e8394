#pragma once
/// @file The word that was meant.
#include <string>
#include <string_view>
#include <vector>

namespace auspex {

/// Least number of letters added, left out, changed or swapped with their neighbour that make one word of the other.
[[nodiscard]] std::size_t letters_apart(std::string_view a, std::string_view b);
/// "; did you mean WORD?" of the closest candidate that is at most a third of the word's letters apart, not counting
/// whole words in front that both have, where one with more words behind ("micro_batch", micro_batch_size) is one apart;
/// else of one that has the word between dashes ("h100", dgx-h100); the first of
/// several; nothing where there is none.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace auspex
