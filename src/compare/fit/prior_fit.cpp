/// @file Gauss-Newton steps in logarithms of constants, with robust weights and normal priors.
#include "compare/fit/prior_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "base/statistics/quantiles.hpp"
#include "compare/fit/cost_models/huber.hpp"

namespace auspex::fit {
namespace {

constexpr double kLeastDeviation = 0.01;  ///< of residuals: no step is measured, and predicted, better
constexpr double kDifference = 0.01;      ///< of ln of a constant, for slopes

using Eigen::MatrixXd;
using Eigen::VectorXd;

class Problem {
 public:
    Problem(std::span<const PriorConstant> priors, const ResidualsOf& residuals_of)
        : priors_(priors), residuals_of_(residuals_of) {}

    [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(priors_.size()); }
    [[nodiscard]] const PriorConstant& prior(Eigen::Index k) const { return priors_[static_cast<std::size_t>(k)]; }

    [[nodiscard]] VectorXd start() const {
        VectorXd x(size());
        for (Eigen::Index k = 0; k < size(); ++k) {
            x[k] = std::log(prior(k).value);
        }
        return x;
    }
    [[nodiscard]] VectorXd bounded(VectorXd x) const {
        for (Eigen::Index k = 0; k < size(); ++k) {
            x[k] = std::clamp(x[k], std::log(prior(k).low), std::log(prior(k).high));
        }
        return x;
    }
    [[nodiscard]] std::vector<double> residuals(const VectorXd& x) const {
        std::vector<double> values(priors_.size());
        for (std::size_t k = 0; k < values.size(); ++k) {
            const double value = std::exp(x[static_cast<Eigen::Index>(k)]);
            values[k] = std::clamp(value, priors_[k].low, priors_[k].high);
        }
        return residuals_of_(values);
    }
    /// Residuals by constants; differences go to where there is room.
    [[nodiscard]] MatrixXd slopes(const VectorXd& x, const std::vector<double>& at_x) const {
        MatrixXd slopes(static_cast<Eigen::Index>(at_x.size()), size());
        for (Eigen::Index k = 0; k < size(); ++k) {
            const double step = x[k] + kDifference <= std::log(prior(k).high) ? kDifference : -kDifference;
            VectorXd moved = x;
            moved[k] += step;
            const std::vector<double> there = residuals(moved);
            for (Eigen::Index i = 0; i < slopes.rows(); ++i) {
                const auto at = static_cast<std::size_t>(i);
                slopes(i, k) = (there[at] - at_x[at]) / step;
            }
        }
        return slopes;
    }
    [[nodiscard]] VectorXd precisions() const {
        VectorXd precision(size());
        for (Eigen::Index k = 0; k < size(); ++k) {
            const double sigma = prior(k).sigma * widened_;
            precision[k] = 1 / (sigma * sigma);
        }
        return precision;
    }
    /// Priors count as so many times as wide.
    void widen_priors(double times) { widened_ = times; }

 private:
    std::span<const PriorConstant> priors_;
    const ResidualsOf& residuals_of_;
    double widened_ = 1;
};

/// What far observations count.
class Robust {
 public:
    enum class Rule { kHuber, kTukey };

    Robust(Rule rule, const std::vector<double>& residuals)
        : rule_(rule), deviation_(std::max(kLeastDeviation, scatter_of(residuals))) {
        // Tukey's limit is by the scatter around 0, or none would have a say where all are off.
        limit_ = rule == Rule::kHuber ? kHuberLimit * deviation_
                                      : kTukeyLimit * std::max(deviation_, robust_deviation(residuals));
    }

    /// rho(r / s).
    [[nodiscard]] double loss(double residual) const {
        const double size = std::abs(residual);
        double loss = 0;
        if (rule_ == Rule::kHuber) {
            loss = size <= limit_ ? size * size / 2 : limit_ * (size - limit_ / 2);
        } else {
            const double rest = size <= limit_ ? 1 - (size / limit_) * (size / limit_) : 0;
            loss = limit_ * limit_ / 6 * (1 - rest * rest * rest);
        }
        return loss / (deviation_ * deviation_);
    }
    [[nodiscard]] double deviation() const { return deviation_; }
    /// rho'(r / s) s / r: 1 of an observation that counts in full.
    [[nodiscard]] double weight(double residual) const {
        const double size = std::abs(residual);
        double weight = 0;
        if (rule_ == Rule::kHuber) {
            weight = size <= limit_ ? 1 : limit_ / size;
        } else if (size < limit_) {
            const double rest = 1 - (size / limit_) * (size / limit_);
            weight = rest * rest;
        }
        return weight;
    }

 private:
    static constexpr double kTukeyLimit = 4.685;  ///< 95 % as efficient as least squares where errors are normal

    static double scatter_of(std::vector<double> residuals) {
        const double middle = median(residuals);
        for (double& residual : residuals) {
            residual -= middle;
        }
        return robust_deviation(residuals);
    }

    Rule rule_;
    double deviation_, limit_ = 0;
};

/// What is minimised.
double loss_of(const Problem& problem, const VectorXd& x, const std::vector<double>& residuals, const Robust& robust) {
    double sum = 0;
    for (const double residual : residuals) {
        sum += robust.loss(residual);
    }
    const VectorXd moved = x - problem.start();
    return sum + moved.cwiseAbs2().dot(problem.precisions()) / 2;
}

struct Curvature {
    MatrixXd of_observations;
    VectorXd slope;  ///< of the sum, at x
};

Curvature curvature_at(const Problem& problem, const VectorXd& x, const std::vector<double>& residuals,
                       const Robust& robust) {
    const MatrixXd slopes = problem.slopes(x, residuals);
    const double precision = 1 / (robust.deviation() * robust.deviation());
    VectorXd weights(slopes.rows());
    std::ranges::transform(residuals, weights.begin(),
                           [&](double residual) { return precision * robust.weight(residual); });
    const auto r = Eigen::Map<const VectorXd>(residuals.data(), slopes.rows());
    const MatrixXd weighted = slopes.transpose() * weights.asDiagonal();
    const VectorXd moved = x - problem.start();
    return {weighted * slopes, weighted * r + problem.precisions().cwiseProduct(moved)};
}

/// Of Newton; constants at a bound beyond which it would go stay there, and the others step without them.
VectorXd step_at(const Problem& problem, const VectorXd& x, const Curvature& curvature) {
    MatrixXd matrix = curvature.of_observations;
    matrix.diagonal() += problem.precisions();
    VectorXd slope = curvature.slope;
    for (;;) {
        const VectorXd step = -matrix.ldlt().solve(slope);
        const VectorXd room = problem.bounded(x + step) - x;
        bool is_free = true;
        for (Eigen::Index k = 0; k < problem.size(); ++k) {
            if (slope[k] != 0 && step[k] != 0 && room[k] == 0) {
                matrix.row(k).setZero(), matrix.col(k).setZero();
                matrix(k, k) = 1, slope[k] = 0, is_free = false;
            }
        }
        if (is_free) {
            return step;
        }
    }
}

/// Where a fit is, and how its sum bends there.
struct Place {
    VectorXd x;
    std::vector<double> residuals;
    Curvature curvature{};
};

void descend(const Problem& problem, Robust::Rule rule, Place& at) {
    constexpr int kMaxSteps = 20, kMaxHalvings = 6;
    constexpr double kSettled = 1e-4;
    for (int i = 0; i < kMaxSteps; ++i) {
        const Robust robust(rule, at.residuals);
        at.curvature = curvature_at(problem, at.x, at.residuals, robust);
        const double before = loss_of(problem, at.x, at.residuals, robust);
        VectorXd step = step_at(problem, at.x, at.curvature);
        double moved = 0;
        for (int halvings = 0; halvings < kMaxHalvings && moved == 0; ++halvings, step /= 2) {
            const VectorXd next = problem.bounded(at.x + step);
            std::vector<double> there = problem.residuals(next);
            if (loss_of(problem, next, there, robust) < before) {
                moved = (next - at.x).cwiseAbs().maxCoeff();
                at.x = next, at.residuals = std::move(there);
            }
        }
        if (moved < kSettled) {
            return;
        }
    }
}

}  // namespace

PriorFit fit_from_priors(std::span<const PriorConstant> priors, const ResidualsOf& residuals_of,
                         const Sources& sources) {
    constexpr double kWide = 10;
    Problem problem(priors, residuals_of);
    Place at{problem.start(), problem.residuals(problem.start())};
    Place from_all = at;
    descend(problem, Robust::Rule::kTukey, at);
    problem.widen_priors(kWide);  // Huber's rule bounds how hard observations pull, however far they are
    descend(problem, Robust::Rule::kHuber, from_all);
    problem.widen_priors(1);
    descend(problem, Robust::Rule::kTukey, from_all);
    if (robust_deviation(from_all.residuals) < robust_deviation(at.residuals)) {
        at = std::move(from_all);
    }
    const Robust robust(Robust::Rule::kTukey, at.residuals);
    const double of_mean =
        robust.deviation() * robust.deviation() * sources.n / static_cast<double>(at.residuals.size());
    const double common = sources.deviation * sources.deviation;
    MatrixXd precision = at.curvature.of_observations * (of_mean / (common + of_mean));
    precision.diagonal() += problem.precisions();
    const MatrixXd covariance = precision.inverse();
    PriorFit fit;
    for (Eigen::Index k = 0; k < problem.size(); ++k) {
        fit.constants.push_back({std::exp(at.x[k]), std::sqrt(covariance(k, k))});
    }
    for (const double residual : at.residuals) {
        fit.weights.push_back(robust.weight(residual));
    }
    fit.residuals = std::move(at.residuals);
    return fit;
}

}  // namespace auspex::fit
