#pragma once
/// @file The simulator's clock: an integer number of picoseconds, rounded in this one place.
#include <cmath>
#include <cstdint>

namespace auspex {

/// Simulated time; 2^63 ps is 106 days.
using Picoseconds = std::int64_t;

/// Seconds to clock ticks, to nearest. The only rounding of time in the project.
inline Picoseconds to_picoseconds(double seconds) { return std::llround(seconds * 1e12); }
inline double to_seconds(Picoseconds time) { return static_cast<double>(time) * 1e-12; }

}  // namespace auspex
