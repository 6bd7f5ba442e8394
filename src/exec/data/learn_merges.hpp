#pragma once
/// @file Byte-pair encoding learned from counted words (Sennrich et al., arXiv:1508.07909).
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exec/data/tokenizer.hpp"

namespace auspex::exec {

/// How often each word occurs.
using WordCounts = std::unordered_map<std::string, std::int64_t>;

/// Adds the words of a text.
void count_words(std::string_view text, WordCounts& counts);

/// Up to `merges` merges, the most frequent pair of neighbours first; of equally frequent ones the one of lower tokens.
/// Fewer where no pair is left that occurs twice. Depends on the counts only. Pair counts are kept up to date word by
/// word: the work is that of the words which a merge changes.
[[nodiscard]] std::vector<Merge> learn_merges(const WordCounts& counts, int merges);

}  // namespace auspex::exec
