/// @file Estimates of resampled measurements, stretched by Student's t.
#include "base/statistics/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "base/statistics/distributions.hpp"
#include "base/statistics/quantiles.hpp"

namespace auspex {
namespace {

/// Few degrees of freedom say less of a standard deviation than very many would: how far intervals reach for that.
double stretch_of(int degrees) { return student_95(degrees) / normal_reach(0.95); }

}  // namespace

Interval interval_of_draws(double value, std::span<const double> draws, int degrees) {
    constexpr double kLow = 0.025, kHigh = 0.975;
    if (draws.empty()) {
        return {value, value};
    }
    const double stretch = stretch_of(degrees);
    return {value - stretch * std::max(0.0, value - quantile(draws, kLow)),
            value + stretch * std::max(0.0, quantile(draws, kHigh) - value)};
}

int degrees_of_freedom(const SampleSize& sample) {
    return std::max(1, static_cast<int>(sample.measurements) - sample.parameters);
}

double errors_over_residuals(const SampleSize& sample) {
    return std::sqrt(static_cast<double>(sample.measurements) / degrees_of_freedom(sample));
}

std::vector<Interval> bootstrap_intervals(const SampleSize& sample, std::span<const double> values,
                                          const DrawnEstimator& estimate, std::uint64_t seed) {
    constexpr int kDraws = 200;
    AUSPEX_CHECK(sample.measurements > 0, "a bootstrap draws from measurements");
    Rng random(seed);
    std::vector<std::vector<double>> draws(values.size());
    std::vector<std::size_t> drawn(sample.measurements);
    for (int draw = 0; draw < kDraws; ++draw) {
        std::generate(drawn.begin(), drawn.end(), [&] { return random.below(sample.measurements); });
        const std::vector<double> estimates = estimate(drawn);
        AUSPEX_CHECK(estimates.size() == values.size(), "an estimator gives as many numbers on each call");
        for (std::size_t j = 0; j < draws.size(); ++j) {
            draws[j].push_back(estimates[j]);
        }
    }
    std::vector<Interval> intervals;
    for (std::size_t j = 0; j < draws.size(); ++j) {
        intervals.push_back(interval_of_draws(values[j], draws[j], degrees_of_freedom(sample)));
    }
    return intervals;
}

std::vector<Interval> residual_intervals(const FittedRows& rows, std::span<const double> values,
                                         const Estimator& estimate) {
    constexpr std::uint64_t kSeed = 20'204;
    const SampleSize sample{rows.measured.size(), rows.parameters};
    AUSPEX_CHECK(rows.predicted.size() == sample.measurements && rows.scales.size() == sample.measurements,
                 "a prediction and a scale for every row");
    std::vector<double> residuals;
    for (std::size_t i = 0; i < sample.measurements; ++i) {
        residuals.push_back(errors_over_residuals(sample) * (rows.measured[i] - rows.predicted[i]) / rows.scales[i]);
    }
    std::vector<double> measured(sample.measurements);
    const auto estimate_of_drawn = [&](std::span<const std::size_t> drawn) {
        for (std::size_t i = 0; i < measured.size(); ++i) {
            measured[i] = rows.predicted[i] + rows.scales[i] * residuals[drawn[i]];
        }
        return estimate(measured);
    };
    return bootstrap_intervals(sample, values, estimate_of_drawn, kSeed);
}

Interval interval_of_median(std::span<const double> values) {
    constexpr double kSingle = 0.03;
    const double middle = median(values);
    if (values.size() == 1) {
        return estimate_of_95(middle, kSingle * middle).interval();
    }
    const FittedRows rows{{values.begin(), values.end()},
                          std::vector<double>(values.size(), middle),
                          std::vector<double>(values.size(), 1.0),
                          1};
    const Interval interval = residual_intervals(rows, std::span(&middle, 1), [](std::span<const double> drawn) {
                                  return std::vector{median(drawn)};
                              }).front();
    return {std::max(0.0, interval.low), interval.high};
}

double sigma_of_median(double range, int count) {
    // Standard deviations of a median over those of a mean: of two values they are the same.
    constexpr double kOfThree = 1.16, kOfMany = 1.2533;
    constexpr int kMany = 5;
    const double median_over_mean = count == 2 ? 1 : count < kMany ? kOfThree : kOfMany;
    const double of_median = range / mean_normal_range(count) / std::sqrt(count) * median_over_mean;
    return stretch_of(count - 1) * of_median;
}

}  // namespace auspex
