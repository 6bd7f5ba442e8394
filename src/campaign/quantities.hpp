#pragma once
/// @file The clock of campaigns: whole nanoseconds, so that sums of what time was spent on are exact.
#include <cmath>
#include <cstdint>

#include "base/error.hpp"

namespace auspex::campaign {

/// 2^63 ns is 292 years.
using Nanoseconds = std::int64_t;

/// Later than anything that is played, and far enough from the end of the clock to be added to.
inline constexpr Nanoseconds kNever = Nanoseconds{1} << 61;

/// How long anything may be. A campaign's steps, and each time that is given; a campaign that is played to find an
/// interval has fewer, for with all that it loses it is to end before the clock does.
inline constexpr double kYear_s = 365.25 * 86'400;
inline constexpr double kLongestRun_s = 50 * kYear_s, kLongestTrial_s = 20 * kYear_s;

/// To the nearest; kNever at most. Requires s >= 0.
[[nodiscard]] inline Nanoseconds to_nanoseconds(double s) {
    AUSPEX_CHECK(s >= 0, "a time that is not negative");
    const double ticks = std::round(s * 1e9);
    return ticks < static_cast<double>(kNever) ? static_cast<Nanoseconds>(ticks) : kNever;
}

[[nodiscard]] inline double to_seconds(Nanoseconds time) { return static_cast<double>(time) * 1e-9; }

[[nodiscard]] inline double to_hours(Nanoseconds time) { return to_seconds(time) / 3600; }

}  // namespace auspex::campaign
