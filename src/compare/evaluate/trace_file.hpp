#pragma once
/// @file Reads the Chrome traces that the trainer writes back into timelines.
#include "base/json_forward.hpp"
#include "schedule/timeline.hpp"

namespace auspex::evaluate {

/// The inverse of write_chrome_trace (report/parts/trace.hpp), tracks without spans included. Throws InputError for
/// anything that it does not write.
[[nodiscard]] schedule::Timeline read_chrome_trace(const JsonDocument& document);

/// End of the last span.
[[nodiscard]] Picoseconds end_of(const schedule::Timeline& timeline);

}  // namespace auspex::evaluate
