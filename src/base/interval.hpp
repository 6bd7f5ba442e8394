#pragma once
/// @file Intervals, and numbers with theirs.

namespace auspex {

/// From `low` to `high`. Who gives one says which share of cases it holds: 95 % of estimates (base/bootstrap.hpp),
/// about 90 % of predictions.
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

}  // namespace auspex
