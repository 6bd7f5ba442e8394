/// @file Lawson and Hanson's active set on scaled columns; Huber's weights around it; bootstrap over observations.
#include "compare/fit/cost_models/non_negative_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.hpp"
#include "base/statistics/bootstrap.hpp"
#include "compare/fit/cost_models/huber.hpp"

namespace auspex::fit {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Timings are not better than this: residuals below it are no outliers, however well the rest fits.
constexpr double kLeastDeviation = 0.01;

/// Least squares over the columns that are not held at zero.
VectorXd solve_free(const MatrixXd& a, const VectorXd& b, const std::vector<Index>& free) {
    const MatrixXd part = a(Eigen::all, free);
    const VectorXd solved = part.completeOrthogonalDecomposition().solve(b);
    VectorXd x = VectorXd::Zero(a.cols());
    x(free) = solved;
    return x;
}

/// Moves from x towards `wanted` until the first free coefficient reaches zero; that one is held from there on.
void step_to_boundary(VectorXd& x, const VectorXd& wanted, std::vector<Index>& free) {
    double share = 1;
    Index first = free.front();
    for (const Index j : free) {
        if (wanted(j) <= 0) {
            const double reached = x(j) / std::max(x(j) - wanted(j), 1e-300);
            if (reached <= share) {
                share = reached;
                first = j;
            }
        }
    }
    x += share * (wanted - x);
    x(first) = 0;
    std::erase_if(free, [&](Index j) { return x(j) <= 0; });
}

/// The column that would lessen the error most, or -1: then x is the solution.
Index steepest_held(const MatrixXd& a, const VectorXd& b, const VectorXd& x, const std::vector<Index>& free,
                    const std::vector<Index>& refused) {
    const VectorXd gradient = a.transpose() * (b - a * x);
    const double least = 1e-10 * std::max(1.0, b.norm());
    Index best = -1;
    for (Index j = 0; j < a.cols(); ++j) {
        const bool is_held = std::find(free.begin(), free.end(), j) == free.end() &&
                             std::find(refused.begin(), refused.end(), j) == refused.end();
        if (is_held && gradient(j) > least && (best < 0 || gradient(j) > gradient(best))) {
            best = j;
        }
    }
    return best;
}

/// min |a x - b| with x >= 0; columns of `a` of length 1 (or 0).
VectorXd solve_positive(const MatrixXd& a, const VectorXd& b) {
    VectorXd x = VectorXd::Zero(a.cols());
    std::vector<Index> free, refused;
    for (Index next = steepest_held(a, b, x, free, refused); next >= 0; next = steepest_held(a, b, x, free, refused)) {
        free.push_back(next);
        VectorXd wanted = solve_free(a, b, free);
        // A column whose own coefficient does not come out positive has a gradient of rounding only: it would be
        // taken in and thrown out for ever.
        if (wanted(next) <= 0) {
            std::erase(free, next);
            refused.push_back(next);
            continue;
        }
        refused.clear();
        while (std::any_of(free.begin(), free.end(), [&](Index j) { return wanted(j) <= 0; })) {
            step_to_boundary(x, wanted, free);
            wanted = free.empty() ? VectorXd::Zero(a.cols()).eval() : solve_free(a, b, free);
        }
        x = wanted;
    }
    return x;
}

/// Rows are sizes over y: what is fitted is 1 for each.
struct Problem {
    MatrixXd rows;
    VectorXd weights;
    VectorXd scales;  ///< lengths of the columns
};

Problem problem_of(std::span<const Observation> observations) {
    AUSPEX_CHECK(!observations.empty() && observations.size() >= observations.front().sizes.size(),
                 "an observation at least for every coefficient");
    const auto count = static_cast<Index>(observations.size());
    const auto terms = static_cast<Index>(observations.front().sizes.size());
    Problem problem{MatrixXd(count, terms), VectorXd(count), VectorXd(terms)};
    for (Index i = 0; i < count; ++i) {
        const Observation& observation = observations[static_cast<std::size_t>(i)];
        AUSPEX_CHECK(observation.y > 0 && observation.weight >= 0, "times are positive");
        AUSPEX_CHECK(static_cast<Index>(observation.sizes.size()) == terms, "every observation has all sizes");
        problem.weights(i) = observation.weight;
        for (Index j = 0; j < terms; ++j) {
            problem.rows(i, j) = observation.sizes[static_cast<std::size_t>(j)] / observation.y;
        }
    }
    for (Index j = 0; j < terms; ++j) {
        const double length = problem.rows.col(j).norm();
        problem.scales(j) = length > 0 ? length : 1;
    }
    return problem;
}

VectorXd weighted_solution(const Problem& problem, const VectorXd& weights) {
    const VectorXd roots = weights.cwiseSqrt();
    const MatrixXd a = roots.asDiagonal() * problem.rows * problem.scales.cwiseInverse().asDiagonal();
    return solve_positive(a, roots).cwiseQuotient(problem.scales);
}

/// Predicted over observed, less 1.
std::vector<double> residuals_of(const Problem& problem, const VectorXd& coefficients) {
    const VectorXd residuals = (problem.rows * coefficients).array() - 1;
    return {residuals.begin(), residuals.end()};
}

VectorXd times_each(const VectorXd& weights, std::span<const double> factors) {
    return weights.cwiseProduct(Eigen::Map<const VectorXd>(factors.data(), static_cast<Index>(factors.size())));
}

struct Robust {
    VectorXd coefficients;
    std::vector<double> residuals, huber;
};

Robust solve_robust(const Problem& problem) {
    Robust fit;
    fit.huber = fit_reweighted(
        [&](std::span<const double> weights) {
            fit.coefficients = weighted_solution(problem, times_each(problem.weights, weights));
            return fit.residuals = residuals_of(problem, fit.coefficients);
        },
        static_cast<std::size_t>(problem.rows.rows()), {kLeastDeviation});
    return fit;
}

/// With observations drawn so many times, from the weights that the whole fit gave them on: some rounds bring the
/// weights nearer to the sample's own. (With those of the whole fit intervals come out an eighth too narrow.)
VectorXd solve_sample(const Problem& problem, const Robust& robust, const VectorXd& times, double limit) {
    constexpr int kRounds = 4;
    const VectorXd drawn = problem.weights.cwiseProduct(times);
    VectorXd solution = weighted_solution(problem, times_each(drawn, robust.huber));
    for (int round = 0; round < kRounds; ++round) {
        solution = weighted_solution(problem, times_each(drawn, huber_weights(residuals_of(problem, solution), limit)));
    }
    return solution;
}

/// Every draw is of observations. A draw's coefficients are as far again from those of all as errors from residuals.
std::vector<Estimate> with_intervals(const std::vector<double>& values, const Problem& problem, const Robust& robust,
                                     std::uint64_t seed) {
    const SampleSize sample{static_cast<std::size_t>(problem.rows.rows()), static_cast<int>(problem.rows.cols())};
    const double limit = huber_limit(robust.residuals, kLeastDeviation), inflation = errors_over_residuals(sample);
    const auto estimate = [&](std::span<const std::size_t> drawn) {
        VectorXd times = VectorXd::Zero(problem.rows.rows());
        for (const std::size_t i : drawn) {
            times(static_cast<Index>(i)) += 1;
        }
        const VectorXd solution = solve_sample(problem, robust, times, limit);
        std::vector<double> estimates;
        for (std::size_t j = 0; j < values.size(); ++j) {
            estimates.push_back(values[j] + inflation * (solution(static_cast<Index>(j)) - values[j]));
        }
        return estimates;
    };
    const std::vector<Interval> intervals = bootstrap_intervals(sample, values, estimate, seed);
    std::vector<Estimate> estimates;
    for (std::size_t j = 0; j < values.size(); ++j) {
        estimates.push_back({values[j], std::max(0.0, intervals[j].low), intervals[j].high});
    }
    return estimates;
}

/// Coefficients are their own intervals.
NonNegativeFit fit_of(const Robust& robust) {
    NonNegativeFit fit;
    for (const double value : robust.coefficients) {
        fit.coefficients.push_back({value, value, value});
    }
    fit.residuals = robust.residuals;
    return fit;
}

}  // namespace

NonNegativeFit fit_non_negative(std::span<const Observation> observations) {
    return fit_of(solve_robust(problem_of(observations)));
}

NonNegativeFit fit_non_negative(std::span<const Observation> observations, std::uint64_t seed) {
    const Problem problem = problem_of(observations);
    const Robust robust = solve_robust(problem);
    NonNegativeFit fit = fit_of(robust);
    fit.coefficients = with_intervals({robust.coefficients.begin(), robust.coefficients.end()}, problem, robust, seed);
    return fit;
}

}  // namespace auspex::fit
