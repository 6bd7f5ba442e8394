#pragma once
/// @file The interval between checkpoints that makes a campaign shortest, found by playing it.
#include <cstdint>
#include <optional>
#include <vector>

#include "campaign/setting.hpp"

namespace auspex::campaign {

/// A campaign with a checkpoint every so many steps.
struct IntervalPoint {
    std::int64_t steps = 0;
    double interval_s = 0;  ///< steps x their time
    double stretch = 1;     ///< all time over that of the steps
};

struct BestInterval {
    double interval_s = 0;
    std::int64_t steps = 1;            ///< the same, to the nearest whole step
    std::vector<IntervalPoint> curve;  ///< around it, shortest first; empty: the run gets nowhere, and the closed form
                                       ///< says the interval
    std::int64_t played = 0;           ///< campaigns that the search took
};

/// Plays a long campaign like this one, the same failures for every interval, at intervals around the closed form's,
/// and takes the minimum of b / t + a + c t + d t^2 through their stretches: what stalls, lost steps and failures
/// while steps are done again add. Noise moves it by about half a percent. The interval of a run that is so short that
/// no failure is to be expected is that of a long one. None without failures. Depends on setting and seed alone.
[[nodiscard]] std::optional<BestInterval> best_interval(const Setting& setting, std::uint64_t seed);

}  // namespace auspex::campaign
