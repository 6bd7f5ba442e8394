#pragma once
/// @file Spread of few measurements, agreement of two rankings.
#include <optional>
#include <span>
#include <vector>

#include "base/statistics/quantiles.hpp"

namespace auspex {

/// Relative standard deviation of one of n measurements of the same thing, estimated from all of them:
///   n = 2 … 5   (largest - smallest) / mean_normal_range(n) / median
///   n >= 6      relative_spread(): (75th - 25th percentile) / 1.349 / median
/// So the mean estimate of few values is the standard deviation itself; interpolated quartiles of three say 0.63 of it.
/// None of fewer than two.
[[nodiscard]] std::optional<double> relative_noise(std::span<const double> values);

/// Kendall's tau over pairs of cases whose measured values a are further apart than |ln(a_i / a_j)| > `least_ln_ratio`:
/// (concordant - discordant) / pairs; ties of b count as half. 1 where no pair is that far apart.
struct RankAgreement {
    double tau = 1;
    int pairs = 0;
};
[[nodiscard]] RankAgreement kendall_tau(std::span<const double> a, std::span<const double> b, double least_ln_ratio);

/// Measured time of the case with the smallest prediction over the smallest measured time, minus 1.
[[nodiscard]] double regret_of_predicted_best(std::span<const double> measured, std::span<const double> predicted);

}  // namespace auspex
