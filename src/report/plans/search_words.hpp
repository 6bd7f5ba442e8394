#pragma once
/// @file How a search has decided of all plans, in words.
#include <string>

#include "sim/search/search_result.hpp"

namespace auspex::report {

/// "8,000 cannot be among the best by their bounds, 900 looked at do not fit, 100 were simulated, 100 of them twice",
/// of a search that was cut also "1,000 were left untried": each plan of the space in one of them, those that the
/// filter refuses in the first.
[[nodiscard]] std::string counts_clause(const search::SearchResult& result);
/// How many plans were left untried, and what they could take at the least. Requires result.was_cut and a best plan.
[[nodiscard]] std::string cut_sentence(const search::SearchResult& result);
/// Up to which step plans are decided, without a full stop: "The search decides about plans up to its last ranked
/// step".
[[nodiscard]] std::string decided_words(const search::SearchResult& result);

}  // namespace auspex::report
