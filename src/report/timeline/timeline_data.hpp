#pragma once
/// @file Timelines as a page carries them: runs of spans that are alike stand once.
#include <cstddef>
#include <string>
#include <vector>

#include "report/parts/timeline_chart.hpp"

namespace auspex::report {

struct TimelineData {
    std::string json;            ///< for timeline.js; no character of it is markup
    std::size_t operations = 0;  ///< spans of the timelines
    std::size_t spans = 0;       ///< of the picture: fewer where neighbours were merged
    Picoseconds merged_below =
        0;  ///< operations that follow one another within this time may be one span; 0: all stand alone
};

/// Every operation with its times to the nanosecond, as long as that takes `most_bytes` at most. Else operations of one
/// micro-batch that follow one another within a time that is doubled until the rest has room are one span, which says
/// how many they are and how long they are busy. `title` is read to people who do not see the picture. Requires spans.
[[nodiscard]] TimelineData timeline_data(const std::string& title, const std::vector<TimelinePanel>& panels,
                                         std::size_t most_bytes);

}  // namespace auspex::report
