#pragma once
/// @file A measured step above the predicted one: a row for each rank, on one time axis.
#include <string>

#include "schedule/timeline.hpp"

namespace auspex::report {

/// What an operation is drawn as: "attention", "experts", "expert communication", …; by its stream and its name.
[[nodiscard]] std::size_t operation_group(const std::string& stream, const std::string& name);
inline constexpr std::size_t kOperationGroups = 10;
/// Name of the group in the legend; `group` < kOperationGroups.
[[nodiscard]] const char* operation_group_name(std::size_t group);

/// Inline SVG. A point of the time axis has the colour of the group that has most of its time; none: the rank did
/// nothing. Requires spans in both; roles are rows, in the order of their first track.
[[nodiscard]] std::string timeline_chart(const std::string& title, const schedule::Timeline& measured,
                                         const schedule::Timeline& predicted);

}  // namespace auspex::report
