#pragma once
/// @file Several looks at the same thing, seconds apart: which of them count, and what they say together.
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

/// What one look found.
struct Trial : Timing {
    bool is_undisturbed = false;  ///< cores had their full speed meanwhile
};

/// Of the calm looks alone, as soon as there is one: seconds = their median (of two the mean), spread = the larger of
/// the median of their spreads and the spread of their seconds, count = all their repetitions. Where none was calm: the
/// fastest look, which was slowed least. A median is not biased by how many looks there were, as a minimum is.
/// Requires at least one look.
[[nodiscard]] Trial combined(std::span<const Trial> looks);

}  // namespace auspex::microbench
