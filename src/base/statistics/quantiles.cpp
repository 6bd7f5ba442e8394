/// @file Quantiles by sorting.
#include "base/statistics/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"

namespace auspex {
namespace {

/// A normal distribution's quartiles are this many standard deviations apart.
constexpr double kQuartiles = 1.349;
/// Its standard deviation over the median of its distances from the mean.
constexpr double kMadToSigma = 1.4826;

}  // namespace

double quantile(std::span<const double> values, double share) {
    AUSPEX_CHECK(!values.empty(), "a quantile of at least one value");
    AUSPEX_CHECK(share >= 0 && share <= 1, "a share of the values");
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double relative_spread(std::span<const double> values) {
    const double middle = median(values);
    const double range = quantile(values, 0.75) - quantile(values, 0.25);
    return middle > 0 ? range / kQuartiles / middle : 0;
}

double robust_deviation(std::span<const double> errors) {
    std::vector<double> sizes(errors.size());
    std::transform(errors.begin(), errors.end(), sizes.begin(), [](double error) { return std::abs(error); });
    return kMadToSigma * median(sizes);
}

}  // namespace auspex
