#pragma once
/// @file Which rank of a run that hangs is the one the others wait for.
#include <optional>
#include <vector>

namespace auspex::launch {

/// The only one that has not begun the newest step, if it is one. `steps`: last begun, by rank; not empty.
[[nodiscard]] std::optional<int> only_rank_behind(const std::vector<int>& steps);

/// The only one that has used no processor time between two looks, if it is one. None: that cannot be told of a rank.
[[nodiscard]] std::optional<int> only_idle_rank(const std::vector<std::optional<long>>& ticks_before,
                                                const std::vector<std::optional<long>>& ticks_after);

}  // namespace auspex::launch
