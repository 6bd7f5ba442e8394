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

/// Ticks of the clock that something takes: to nearest; up, to the tick by which all of it is done. The only rounding
/// of time in the project. Stop at kLongestTime.
inline Picoseconds whole_ticks(double ticks) { return on_clock(std::round(ticks)); }
inline Picoseconds whole_ticks_up(double ticks) { return on_clock(std::ceil(ticks)); }
/// The same of seconds.
inline Picoseconds to_picoseconds(double seconds) { return whole_ticks(seconds * 1e12); }
inline Picoseconds to_picoseconds_up(double seconds) { return whole_ticks_up(seconds * 1e12); }

/// Sum of two times that stops at kLongestTime; neither may be longer than that.
inline Picoseconds sum_of_times(Picoseconds a, Picoseconds b) { return std::clamp(a + b, -kLongestTime, kLongestTime); }

/// Of ticks that were shared out and are no longer whole.
inline double ticks_to_seconds(double ticks) { return ticks * 1e-12; }
inline double to_seconds(Picoseconds time) { return ticks_to_seconds(static_cast<double>(time)); }

}  // namespace auspex
