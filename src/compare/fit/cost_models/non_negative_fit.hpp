#pragma once
/// @file Least squares with coefficients that cannot be negative, robust against outliers.
#include <cstdint>
#include <span>
#include <vector>

#include "base/statistics/interval.hpp"

namespace auspex::fit {

/// One observation: y is the sum of coefficient x size.
struct Observation {
    std::vector<double> sizes;
    double y = 0;
    double weight = 1;  ///< beside 1 / y: errors are relative
};

struct NonNegativeFit {
    std::vector<Estimate> coefficients;
    std::vector<double> residuals;  ///< predicted / y - 1 of each observation
};

/// Minimises sum of w ((predicted - y) / y)^2 with coefficients >= 0 (active set, Lawson and Hanson), w reweighted by
/// Huber's rule until it settles. Requires an observation at least for every coefficient. Without a seed no intervals
/// are sought: both ends are the value. With one they are bootstrap_intervals over observations, 0 at least.
[[nodiscard]] NonNegativeFit fit_non_negative(std::span<const Observation> observations);
[[nodiscard]] NonNegativeFit fit_non_negative(std::span<const Observation> observations, std::uint64_t seed);

}  // namespace auspex::fit
