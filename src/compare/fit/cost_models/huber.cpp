/// @file Least squares, reweighted until they settle.
#include "compare/fit/cost_models/huber.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/statistics/quantiles.hpp"

namespace auspex::fit {

double huber_limit(std::span<const double> residuals, double least_deviation) {
    return kHuberLimit * std::max(least_deviation, robust_deviation(residuals));
}

std::vector<double> huber_weights(std::span<const double> residuals, double limit) {
    std::vector<double> weights(residuals.size());
    std::transform(residuals.begin(), residuals.end(), weights.begin(),
                   [limit](double r) { return std::abs(r) <= limit ? 1 : limit / std::abs(r); });
    return weights;
}

std::vector<double> fit_reweighted(const WeightedFit& fit, std::size_t observations, const Reweighting& how) {
    std::vector<double> weights(observations, 1.0);
    for (int i = 0; i < how.max_fits; ++i) {
        const std::vector<double> residuals = fit(weights);
        std::vector<double> next = huber_weights(residuals, huber_limit(residuals, how.least_deviation));
        double change = 0;
        for (std::size_t j = 0; j < observations; ++j) {
            change = std::max(change, std::abs(next[j] - weights[j]));
        }
        weights = std::move(next);
        if (change <= how.settled) {
            break;
        }
    }
    return weights;
}

}  // namespace auspex::fit
