#pragma once
/// @file The ranks of sibling groups as one array, and as the digits of numbers.
#include <optional>
#include <vector>

#include "models/layout.hpp"

namespace auspex::models {

/// Those of groups_of, one group after the other: group_size(layout, kind) of each.
[[nodiscard]] std::vector<int> group_ranks(const Layout& layout, GroupKind kind, int stage);

/// Counts from 0 to count - 1, and moves a rank by `stride` each time.
struct RankDigit {
    int count, stride;
    bool operator==(const RankDigit&) const = default;
};

/// Sibling groups by rule: rank = first + sum of digit * stride over the digits that name the group and those that name
/// the member, the last of each the fastest.
struct RankFamily {
    int first = 0;
    std::vector<RankDigit> groups, members;
    bool operator==(const RankFamily&) const = default;
};

/// The ranks of group_ranks(layout, kind, stage) by rule; none where the groups cut across the axes of the grid.
[[nodiscard]] std::optional<RankFamily> rank_family(const Layout& layout, GroupKind kind, int stage);
/// The same digits with those of one joined that count on where the next one ends, none that stand still.
[[nodiscard]] std::vector<RankDigit> joined(const std::vector<RankDigit>& digits);

}  // namespace auspex::models
