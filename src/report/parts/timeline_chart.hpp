#pragma once
/// @file Timelines one above the other on one time axis, as a picture: a row for each rank or stage.
#include <string>
#include <vector>

#include "report/parts/picture.hpp"
#include "schedule/timeline.hpp"

namespace auspex::report {

/// What an operation is drawn as: "attention", "experts", "expert communication", …; by its stream and its name.
[[nodiscard]] std::size_t operation_group(const std::string& stream, const std::string& name);
inline constexpr std::size_t kOperationGroups = 10;
/// Name of the group in the legend, and its colour in the style sheet (l0 …); `group` < kOperationGroups.
[[nodiscard]] const char* operation_group_name(std::size_t group);
[[nodiscard]] int operation_group_color(std::size_t group);

/// A timeline of a picture.
struct TimelinePanel {
    std::string title;  ///< "predicted, 8.31 s"; empty: the only one
    const schedule::Timeline* timeline = nullptr;
};
/// When its last span ends.
[[nodiscard]] Picoseconds end_of_spans(const schedule::Timeline& timeline);

/// Inline SVG. A point of the time axis has the colour of the group that has most of its time; none: the rank did
/// nothing. Requires spans; roles are rows, in the order of their first track.
[[nodiscard]] std::string timeline_chart(const std::string& title, const std::vector<TimelinePanel>& panels,
                                         double width = kPagePicture);

}  // namespace auspex::report
