/// @file 95 % of normal errors.
#include "base/statistics/interval.hpp"

#include <algorithm>
#include <cmath>

#include "base/statistics/distributions.hpp"

namespace auspex {

Interval widened(double value, const Interval& interval, double sigma) {
    const double spread = normal_reach(0.9) * sigma;
    return {value * std::exp(-std::hypot(std::log(value / interval.low), spread)),
            value * std::exp(std::hypot(std::log(interval.high / value), spread))};
}

double sigma_of_95(const Interval& interval) { return (interval.high - interval.low) / (2 * normal_reach(0.95)); }

Estimate estimate_of_95(double value, double sigma) {
    const double reach = normal_reach(0.95) * sigma;
    return {value, std::max(0.0, value - reach), value + reach};
}

}  // namespace auspex
