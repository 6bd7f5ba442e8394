#pragma once
/// @file Several trials of the same thing, seconds apart: which of them count, and their combined result.
#include <span>

namespace auspex::microbench {

/// What repetitions of a call or a message take.
struct Timing {
    double seconds = 0;  ///< their median
    double spread = 0;   ///< relative_spread (base/statistics/quantiles.hpp)
    int count = 0;
};
/// Requires at least one repetition.
[[nodiscard]] Timing timing_of(std::span<const double> repetitions_s);

/// Result of one trial.
struct Trial : Timing {
    double probe_s = 0;           ///< beside it, of the slowest core that took part (exec/run/core_probe.hpp)
    bool is_undisturbed = false;  ///< cores had the full speed that was known then
};

/// Of the undisturbed trials, if there is one: seconds = their median (of two the mean), spread = the larger of the
/// median of their spreads and the spread of their seconds, count = all their repetitions, probe_s = the median of
/// theirs. Otherwise the fastest trial, which was slowed least. A median is not biased by the number of trials, as a
/// minimum is. Requires at least one trial.
[[nodiscard]] Trial combined(std::span<const Trial> trials);

}  // namespace auspex::microbench
