#pragma once
/// @file Medians and spreads of noisy timings.
#include <span>

namespace auspex {

[[nodiscard]] double median(std::span<const double> values);
/// Value below which `share` of the values lie, interpolated.
[[nodiscard]] double quantile(std::span<const double> values, double share);
/// Robust relative standard deviation: (75th - 25th percentile) / 1.349 / median; 0 where the median is 0.
[[nodiscard]] double relative_spread(std::span<const double> values);
/// Robust standard deviation of errors around 0: 1.4826 times the median of their sizes.
[[nodiscard]] double robust_deviation(std::span<const double> errors);

}  // namespace auspex
