/// @file Seconds to whole nanoseconds and back.
#include "campaign/quantities.hpp"

#include <cmath>

#include "base/error.hpp"

namespace auspex::campaign {

Nanoseconds to_nanoseconds(double s) {
    AUSPEX_CHECK(s >= 0, "a time that is not negative");
    const double ticks = std::round(s * 1e9);
    return ticks < static_cast<double>(kNever) ? static_cast<Nanoseconds>(ticks) : kNever;
}

double to_seconds(Nanoseconds time) { return static_cast<double>(time) * 1e-9; }

double to_hours(Nanoseconds time) { return to_seconds(time) / 3600; }

}  // namespace auspex::campaign
