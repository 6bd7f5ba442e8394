#pragma once
/// @file The ranks of sibling groups as one array.
#include <vector>

#include "models/layout.hpp"

namespace auspex::models {

/// Those of groups_of, one group after the other: group_size(layout, kind) of each.
[[nodiscard]] std::vector<int> group_ranks(const Layout& layout, GroupKind kind, int stage);

}  // namespace auspex::models
