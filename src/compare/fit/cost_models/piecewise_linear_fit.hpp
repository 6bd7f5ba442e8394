#pragma once
/// @file A time that grows once a working set is larger than what keeps it: how much, and from which size on.
#include <vector>

#include "base/statistics/interval.hpp"

namespace auspex::fit {

/// A timing of something that moves `bytes` while it, and others, go through `set_bytes`.
struct PiecewiseLinearRow {
    double bytes = 0, set_bytes = 0;
    double known_s = 0;  ///< of `seconds`, what is known already and not fitted
    double seconds = 0;
};

struct PiecewiseLinearFit {
    Estimate cached_byte_s;  ///< 0 where it was not asked for
    Estimate miss_byte_s;    ///< of a byte that is no longer kept
    Estimate capacity_bytes;
    std::vector<double> predicted_s;  ///< of each row
};

enum class CachedCost { kKnown, kFitted };

/// seconds = known_s + cached_byte_s bytes + miss_byte_s bytes miss_ratio(capacity, set)    (models/cpu/cpu_model.hpp)
/// by least squares of relative errors; cached_byte_s (0 where it is known) and miss_byte_s are 0 or above, for the
/// capacity of `reaches`, which rise, that leaves least; then reweighted by Huber's rule (huber.hpp), eleven fits in
/// all. Intervals of all three together (residual_intervals), the capacity's half a step wider on each side. Requires a
/// row and a reach.
[[nodiscard]] PiecewiseLinearFit fit_piecewise_linear(const std::vector<PiecewiseLinearRow>& rows,
                                                      const std::vector<double>& reaches, CachedCost cached_cost);

/// largest / steps, 2 largest / steps, … largest, from number `first` of them on.
[[nodiscard]] std::vector<double> capacities_up_to(double largest, int steps, int first = 1);

}  // namespace auspex::fit
