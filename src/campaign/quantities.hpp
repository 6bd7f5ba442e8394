#pragma once
/// @file The clock of campaigns: whole nanoseconds, so that sums of what time was spent on are exact.
#include <cstdint>

namespace auspex::campaign {

/// 2^63 ns is 292 years.
using Nanoseconds = std::int64_t;

/// Later than anything that is played, and far enough from the end of the clock to be added to.
inline constexpr Nanoseconds kNever = Nanoseconds{1} << 61;

/// To the nearest; kNever at most. Requires s >= 0.
[[nodiscard]] Nanoseconds to_nanoseconds(double s);
[[nodiscard]] double to_seconds(Nanoseconds time);
[[nodiscard]] double to_hours(Nanoseconds time);

}  // namespace auspex::campaign
