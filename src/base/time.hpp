#pragma once
/// @file The simulator's clock: an integer number of picoseconds, rounded in this one place.
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace auspex {

/// Simulated time; 2^63 ps is 106 days.
using Picoseconds = std::int64_t;

/// 30 days. What takes so long is not simulated: a conversion stops here, and whoever plays the time refuses it. The
/// clock holds three times as much, so that a sum of three times needs no care.
inline constexpr Picoseconds kLongestTime = Picoseconds{30} * 86'400 * 1'000'000'000'000;

/// Whole ticks to the clock, at most kLongestTime before or after 0; not a number counts as too long.
inline Picoseconds on_clock(double ticks) {
    constexpr auto kLimit = static_cast<double>(kLongestTime);
    if (std::abs(ticks) < kLimit) {
        return static_cast<Picoseconds>(ticks);
    }
    return ticks < 0 ? -kLongestTime : kLongestTime;
}

/// Seconds to clock ticks, to nearest; a transfer's, to the tick by which all has flowed. The only rounding of time in
/// the project. Stop at kLongestTime.
inline Picoseconds to_picoseconds(double seconds) { return on_clock(std::round(seconds * 1e12)); }
inline Picoseconds to_picoseconds_up(double seconds) { return on_clock(std::ceil(seconds * 1e12)); }

/// Sum of two times that stops at kLongestTime; neither may be longer than that.
inline Picoseconds sum_of_times(Picoseconds a, Picoseconds b) { return std::clamp(a + b, -kLongestTime, kLongestTime); }

inline double to_seconds(Picoseconds time) { return static_cast<double>(time) * 1e-12; }

}  // namespace auspex
