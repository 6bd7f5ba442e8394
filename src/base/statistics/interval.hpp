#pragma once
/// @file Intervals, and numbers with theirs.

namespace auspex {

/// From `low` to `high`. Who gives one says which share of cases it holds: 95 % of estimates
/// (base/statistics/bootstrap.hpp), about 90 % of predictions.
struct Interval {
    double low = 0, high = 0;
    [[nodiscard]] bool holds(double value) const { return low <= value && value <= high; }
};

/// An estimated number in SI and the ends of its interval.
struct Estimate {
    double value = 0;
    double low = 0, high = 0;
    [[nodiscard]] Interval interval() const { return {low, high}; }
};

/// A 90 % interval around `value`, widened by an independent log-normal spread of such a sigma: on either side squares
/// of logarithms add up, ln(end / value)^2 + (1.645 sigma)^2. Requires positive numbers, and that it holds the value.
[[nodiscard]] Interval widened(double value, const Interval& interval, double sigma);

/// One standard deviation of an estimate with such a 95 % interval: half of it over normal_reach(0.95).
[[nodiscard]] double sigma_of_95(const Interval& interval);
/// An estimate of something that is 0 or above, with the 95 % interval of normal errors of such a standard deviation.
[[nodiscard]] Estimate estimate_of_95(double value, double sigma);

}  // namespace auspex
