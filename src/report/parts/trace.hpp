#pragma once
/// @file A timeline as Chrome trace JSON, for ui.perfetto.dev.
#include <ostream>

#include "schedule/timeline.hpp"

namespace auspex::report {

/// One process per role, one thread per stream, complete events ("ph":"X") in microseconds, sorted by track then start;
/// process and thread names as metadata.
void write_chrome_trace(const schedule::Timeline& timeline, std::ostream& out);

}  // namespace auspex::report
