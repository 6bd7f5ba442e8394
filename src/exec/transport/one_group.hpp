#pragma once
/// @file Ranks that are no grid: all in one group.
#include <string>

#include "models/layout.hpp"

namespace auspex::exec {

/// The layout of ranks that work together outside of a training run. `purpose` stands for the plan in messages.
[[nodiscard]] models::Layout one_group(int ranks, const std::string& purpose);

}  // namespace auspex::exec
