#pragma once
/// @file Timelines that are zoomed, for pages.
#include <string>
#include <vector>

#include "report/parts/page.hpp"
#include "report/parts/timeline_chart.hpp"

namespace auspex::report {

/// A figure of timelines on one time axis, drawn by timeline.js; without scripts a picture of it. It takes `most_bytes`
/// or a little more; its caption says where operations had to be merged for that. Requires spans.
[[nodiscard]] std::string html_timeline(const std::vector<TimelinePanel>& panels, const Caption& caption,
                                        std::size_t most_bytes);

}  // namespace auspex::report
