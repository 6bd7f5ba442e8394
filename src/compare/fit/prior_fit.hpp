#pragma once
/// @file Constants from runs that lean on them, and from what was known of them before.
#include <functional>
#include <span>
#include <vector>

namespace auspex::fit {

/// A positive constant as it was known: ln of it is normal around ln of `value` with such a standard deviation.
struct PriorConstant {
    double value = 0, sigma = 0;
    double low = 0, high = 0;  ///< what it may be
};

struct PosteriorConstant {
    double value = 0;
    double sigma = 0;  ///< standard deviation of its logarithm, at most the prior's
};

struct PriorFit {
    std::vector<PosteriorConstant> constants;
    std::vector<double> residuals;  ///< with them
};

/// ln(predicted / measured) of each observation with such values of the constants, in their order.
using ResidualsOf = std::function<std::vector<double>(std::span<const double> values)>;

/// Minimises, over x = ln of the constants within their bounds,
///   sum over observations of rho(r(x) / s) + 1/2 sum over constants of ((x - ln value) / sigma)^2
/// with s the robust deviation of r around its median, at least 0.01, and Tukey's biweight rho, whose weight (1 - (r
/// / 4.685 s)^2)^2 takes observations out that are far from the others (Beaton and Tukey, Technometrics 16, 1974). It
/// has more minima than one: of that below the priors' values, and that below the minimum with Huber's rho, which keeps
/// all observations, the one with the smaller robust deviation of r around 0. A constant that the observations do not
/// tell stays as it was. Steps are those of Gauss and Newton, halved while they make the sum larger. sigma of the
/// result is by the curvature of the sum, observations counting as `independent` ones in all (1 to their number): those
/// of one source are off together. Requires an observation and a constant at least.
[[nodiscard]] PriorFit fit_from_priors(std::span<const PriorConstant> priors, const ResidualsOf& residuals_of,
                                       double independent);

}  // namespace auspex::fit
