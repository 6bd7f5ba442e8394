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
    std::vector<double> weights;    ///< of each observation, 0 to 1
};

/// Observations come from sources, equally many from each, and those of one are off together by such a deviation.
struct Sources {
    double n = 1, deviation = 0;
};

/// ln(predicted / measured) of each observation with such values of the constants, in their order.
using ResidualsOf = std::function<std::vector<double>(std::span<const double> values)>;

/// Minimises, over x = ln of the constants within their bounds,
///   sum over observations of rho(r(x) / s) + 1/2 sum over constants of ((x - ln value) / sigma)^2
/// with s the robust deviation of r around its median, at least 0.01, for what all are off by is to be taken away; and
/// Tukey's biweight rho, whose weight (1 - (r / 4.685 t)^2)^2 takes observations out that are far from the others
/// (Beaton and Tukey, Technometrics 16, 1974), t being s or, if that is more, the robust deviation around 0. It has
/// more minima than one: of that below the priors' values, and that below the minimum with Huber's rho, which keeps all
/// observations (and priors ten times as wide), the one with the smaller robust deviation of r. Every observation
/// counts; a constant that they do not tell stays as it was. Steps are those of Gauss and Newton, halved while they
/// make the sum larger. sigma of the result is by the curvature of the sum, whose part of the observations is taken
/// (s^2 / m) / (deviation^2 + s^2 / m) times, with m observations of each source: no number of them tells more than
/// their sources do. Requires an observation and a constant at least.
[[nodiscard]] PriorFit fit_from_priors(std::span<const PriorConstant> priors, const ResidualsOf& residuals_of,
                                       const Sources& sources);

}  // namespace auspex::fit
