#pragma once
/// @file A step as a Perfetto trace in TrackEvent protobuf, for ui.perfetto.dev and its SQL.
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "schedule/timeline.hpp"
#include "sim/predict/trace_details.hpp"

namespace auspex::report {

/// True of names that end in .pftrace or .perfetto-trace.
[[nodiscard]] bool is_track_event_file(const std::string& file);

/// A process a role, under it a track a stream, and its counters; counters of all roles under "links"; a track "step"
/// with one slice, whose arguments are `about`. Slices have the category of their stream, and arguments: layer,
/// micro_batch, and of operations that `details` knows bytes, flop, group and so on (docs/exchange.md). An arrow goes
/// from each send to the end of its receive. Times are rounded down from picoseconds to whole nanoseconds: beginnings
/// and ends alike, so that neighbours still meet and what is inside stays inside. `details`: null: there are none.
void write_step_trace(const schedule::Timeline& timeline, const predict::TraceDetails* details,
                      const std::vector<std::pair<std::string, std::string>>& about, std::ostream& out);

}  // namespace auspex::report
