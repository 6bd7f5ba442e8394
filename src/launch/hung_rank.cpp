/// @file One among many.
#include "launch/hung_rank.hpp"

#include <algorithm>

namespace auspex::launch {
namespace {

std::optional<int> only(const std::vector<bool>& is_it) {
    const auto first = std::find(is_it.begin(), is_it.end(), true);
    const bool is_one = std::count(is_it.begin(), is_it.end(), true) == 1;
    return is_one ? std::optional<int>(static_cast<int>(first - is_it.begin())) : std::nullopt;
}

}  // namespace

std::optional<int> only_rank_behind(const std::vector<int>& steps) {
    const int newest = *std::max_element(steps.begin(), steps.end());
    std::vector<bool> is_behind;
    for (const int step : steps) {
        is_behind.push_back(step < newest);
    }
    return only(is_behind);
}

std::optional<int> only_idle_rank(const std::vector<std::optional<long>>& ticks_before,
                                  const std::vector<std::optional<long>>& ticks_after) {
    std::vector<bool> is_idle;
    for (std::size_t rank = 0; rank < ticks_before.size(); ++rank) {
        is_idle.push_back(ticks_before[rank] && ticks_after[rank] == ticks_before[rank]);
    }
    return only(is_idle);
}

}  // namespace auspex::launch
