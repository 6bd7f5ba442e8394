#pragma once
/// @file 95 % confidence intervals of what is estimated from few measurements.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/statistics/interval.hpp"

namespace auspex {

/// From draws of an estimate that resampled measurements gave: the distances of their 2.5th and 97.5th percentile from
/// `value`, times student_95(degrees) / 1.96, for the scatter of few measurements is not known well either. It contains
/// the value.
[[nodiscard]] Interval interval_of_draws(double value, std::span<const double> draws, int degrees);

/// So many measurements, to which so many parameters were fitted.
struct SampleSize {
    std::size_t measurements = 0;
    int parameters = 1;
};
/// Measurements less parameters: 1 at least.
[[nodiscard]] int degrees_of_freedom(const SampleSize& sample);
/// sqrt(measurements / degrees): a fit follows its own measurements, whose residuals are smaller than errors by that.
[[nodiscard]] double errors_over_residuals(const SampleSize& sample);

/// Estimates from measurements drawn with repetition, as many as there are: `drawn` has the index of each. As many
/// numbers, in the same order, on each call.
using DrawnEstimator = std::function<std::vector<double>(std::span<const std::size_t> drawn)>;

/// The one way in which intervals of fitted and measured numbers are made, a bootstrap: estimates of 200 draws, and
/// around each of `values` interval_of_draws with degrees_of_freedom. The same seed gives the same intervals. Requires
/// a measurement at least.
[[nodiscard]] std::vector<Interval> bootstrap_intervals(const SampleSize& sample, std::span<const double> values,
                                                        const DrawnEstimator& estimate, std::uint64_t seed);

/// Measurements with what a model of so many parameters makes of them; `scales`: how large noise is, up to a factor
/// that is the same for all (1 each, or each time itself where errors are relative).
struct FittedRows {
    std::vector<double> measured, predicted, scales;
    int parameters = 1;
};

/// Estimates from measurements; as many, in the same order, on each call.
using Estimator = std::function<std::vector<double>(std::span<const double> measured)>;

/// bootstrap_intervals of residuals: each draw estimates from
///   measured* = predicted + scale r errors_over_residuals
/// r drawn from the residuals over their scales. Requires a row at least.
[[nodiscard]] std::vector<Interval> residual_intervals(const FittedRows& rows, std::span<const double> values,
                                                       const Estimator& estimate);

/// Of the median of values that are 0 or above and scatter independently; low is 0 at least. Of a single value, which
/// says nothing of how far another one would be off: estimate_of_95 of it and 3 %, as for measured constants without an
/// uncertainty (base/constant.hpp).
[[nodiscard]] Interval interval_of_median(std::span<const double> values);

/// One standard deviation (sigma_of_95) of the median of `count` values of which only the range is known, the range
/// taken for mean_normal_range(count) of their standard deviations. Requires count >= 2.
[[nodiscard]] double sigma_of_median(double range, int count);

}  // namespace auspex
