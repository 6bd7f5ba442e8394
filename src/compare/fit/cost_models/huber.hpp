#pragma once
/// @file Huber's rule: observations that stay far from what the others say lose weight.
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace auspex::fit {

/// Of standard deviations.
inline constexpr double kHuberLimit = 1.345;

/// Residuals up to this count in full: kHuberLimit of their standard deviations, by robust_deviation
/// (base/statistics/quantiles.hpp) or `least_deviation` where that is more, for timings are not better. Least squares
/// reweighted so have 95 % of their efficiency where errors are normal (Huber, Robust Statistics, 1981).
[[nodiscard]] double huber_limit(std::span<const double> residuals, double least_deviation);

/// Of each observation: 1 up to `limit`, limit / |residual| beyond.
[[nodiscard]] std::vector<double> huber_weights(std::span<const double> residuals, double limit);

/// Fits by least squares with a weight for each observation, and gives the residuals.
using WeightedFit = std::function<std::vector<double>(std::span<const double> weights)>;

struct Reweighting {
    double least_deviation = 0;  ///< of huber_limit
    int max_fits = 50;
    double settled = 1e-8;  ///< no more fits once no weight changes by more
};

/// Fits with equal weights, then again and again with those that Huber's rule gives, until they settle. Gives the
/// weights by the last fit's residuals.
std::vector<double> fit_reweighted(const WeightedFit& fit, std::size_t observations, const Reweighting& how);

}  // namespace auspex::fit
