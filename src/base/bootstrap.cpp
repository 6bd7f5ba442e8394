/// @file Bootstrap of residuals, stretched by Student's t.
#include "base/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "base/quantiles.hpp"
#include "base/rng.hpp"

namespace auspex {
namespace {

/// 95 % of a normal distribution lie within so many standard deviations.
constexpr double kNormal = 1.959964;
constexpr std::uint64_t kSeed = 20'204;

}  // namespace

double student_95(int degrees) {
    constexpr std::array kFew{12.7062, 4.3027};
    if (degrees <= static_cast<int>(kFew.size())) {
        return kFew.at(static_cast<std::size_t>(std::max(1, degrees) - 1));
    }
    // Cornish and Fisher's expansion: within 1 % from three degrees on.
    const double z = kNormal, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    const double n = degrees;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

Interval interval_of_draws(double value, std::span<const double> draws, int degrees) {
    constexpr double kLow = 0.025, kHigh = 0.975;
    if (draws.empty()) {
        return {value, value};
    }
    const double stretch = student_95(degrees) / kNormal;
    return {value - stretch * std::max(0.0, value - quantile(draws, kLow)),
            value + stretch * std::max(0.0, quantile(draws, kHigh) - value)};
}

std::vector<Interval> bootstrap_intervals(const FittedRows& rows, std::span<const double> values,
                                          const Estimator& estimate) {
    constexpr int kDraws = 200;
    const std::size_t count = rows.measured.size();
    AUSPEX_CHECK(count > 0 && rows.predicted.size() == count && rows.scales.size() == count,
                 "a prediction and a scale for every row");
    const int degrees = std::max(1, static_cast<int>(count) - rows.parameters);
    const double inflation = std::sqrt(static_cast<double>(count) / degrees);
    std::vector<double> residuals;
    for (std::size_t i = 0; i < count; ++i) {
        residuals.push_back(inflation * (rows.measured[i] - rows.predicted[i]) / rows.scales[i]);
    }
    Rng random(kSeed);
    std::vector<std::vector<double>> draws(values.size());
    std::vector<double> drawn(count);
    for (int draw = 0; draw < kDraws; ++draw) {
        for (std::size_t i = 0; i < count; ++i) {
            drawn[i] = rows.predicted[i] + rows.scales[i] * residuals[random.below(count)];
        }
        const std::vector<double> estimates = estimate(drawn);
        AUSPEX_CHECK(estimates.size() == values.size(), "an estimator gives as many numbers on each call");
        for (std::size_t j = 0; j < draws.size(); ++j) {
            draws[j].push_back(estimates[j]);
        }
    }
    std::vector<Interval> intervals;
    for (std::size_t j = 0; j < draws.size(); ++j) {
        intervals.push_back(interval_of_draws(values[j], draws[j], degrees));
    }
    return intervals;
}

Interval interval_of_median(std::span<const double> values) {
    constexpr double kSingle = 0.03;
    const double middle = median(values);
    if (values.size() == 1) {
        return {middle * (1 - kNormal * kSingle), middle * (1 + kNormal * kSingle)};
    }
    const FittedRows rows{{values.begin(), values.end()},
                          std::vector<double>(values.size(), middle),
                          std::vector<double>(values.size(), 1.0),
                          1};
    const Interval interval = bootstrap_intervals(rows, std::span(&middle, 1), [](std::span<const double> drawn) {
                                  return std::vector{median(drawn)};
                              }).front();
    return {std::max(0.0, interval.low), interval.high};
}

double sigma_of_median(double range, int count) {
    AUSPEX_CHECK(count >= 2, "a range of at least two values");
    constexpr std::array kWidths{1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970, 3.078};  // of 2 to 10
    constexpr double kMore = 0.9;  // of each factor of e beyond ten
    // Standard deviations of a median over those of a mean: of two values they are the same.
    constexpr double kOfThree = 1.16, kOfMany = 1.2533;
    constexpr int kMany = 5;
    const double median_over_mean = count == 2 ? 1 : count < kMany ? kOfThree : kOfMany;
    const auto place = static_cast<std::size_t>(count - 2);
    const double width = place < kWidths.size() ? kWidths.at(place) : kWidths.back() + kMore * std::log(count / 10.0);
    const double of_median = range / width / std::sqrt(count) * median_over_mean;
    return student_95(count - 1) / kNormal * of_median;
}

}  // namespace auspex
