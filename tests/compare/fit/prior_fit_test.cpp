/// @file Constants from made-up runs: known ones come back, outliers do not pull, what is not told stays.
#include "compare/fit/prior_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace auspex::fit {
namespace {

/// Runs of two parts, share and 1 - share of the step, each as long as 1 over a rate.
struct MadeUpRuns {
    std::vector<double> shares;
    std::vector<double> measured;

    MadeUpRuns(double first, double second, double noise, int n) {
        std::mt19937_64 draw(7);
        std::normal_distribution<double> normal(0, noise);
        for (int i = 0; i < n; ++i) {
            const double share = (i + 0.5) / n;
            shares.push_back(share);
            measured.push_back((share / first + (1 - share) / second) * std::exp(normal(draw)));
        }
    }
    [[nodiscard]] std::vector<double> residuals(std::span<const double> rates) const {
        std::vector<double> residuals;
        for (std::size_t i = 0; i < shares.size(); ++i) {
            const double predicted = shares[i] / rates[0] + (1 - shares[i]) / rates[1];
            residuals.push_back(std::log(predicted / measured[i]));
        }
        return residuals;
    }
    [[nodiscard]] PriorFit fit(const std::vector<PriorConstant>& priors, const Sources& sources = {}) const {
        return fit_from_priors(
            priors, [this](std::span<const double> rates) { return residuals(rates); }, sources);
    }
};

const std::vector<PriorConstant> kWide{{1, 1, 0.1, 10}, {1, 1, 0.1, 10}};

/// measured = share / 0.8 + (1 - share) / 0.5, exactly: the two rates.
TEST(PriorFit, constants_that_runs_were_made_with_come_back) {
    const MadeUpRuns runs(0.8, 0.5, 0, 12);
    const PriorFit fit = runs.fit(kWide);
    EXPECT_NEAR(fit.constants[0].value, 0.8, 0.002);
    EXPECT_NEAR(fit.constants[1].value, 0.5, 0.002);
    EXPECT_LT(std::abs(std::ranges::max(fit.residuals)), 1e-3);
    EXPECT_LT(std::abs(std::ranges::min(fit.residuals)), 1e-3);
}

/// A third of the runs takes 1.5 times as long: least squares of logarithms would be ln(1.5) / 3 = 14 % off.
TEST(PriorFit, runs_that_are_far_from_the_others_do_not_pull) {
    MadeUpRuns runs(0.8, 0.8, 0.02, 30);
    for (std::size_t i = 0; i < runs.measured.size(); i += 3) {
        runs.measured[i] *= 1.5;
    }
    const PriorFit fit = runs.fit({{1, 0.5, 0.1, 10}, {0.8, 1e-6, 0.1, 10}});
    EXPECT_NEAR(fit.constants[0].value, 0.8, 0.03);
}

/// Runs without a part say nothing of its rate.
TEST(PriorFit, what_runs_do_not_tell_stays_as_it_was_with_its_uncertainty) {
    MadeUpRuns runs(0.8, 0.5, 0.01, 10);
    for (std::size_t i = 0; i < runs.shares.size(); ++i) {
        runs.shares[i] = 1, runs.measured[i] = 1 / 0.8;
    }
    const PriorFit fit = runs.fit({{0.9, 0.2, 0.1, 1}, {0.7, 0.3, 0.1, 1}});
    EXPECT_NEAR(fit.constants[0].value, 0.8, 0.005);
    EXPECT_DOUBLE_EQ(fit.constants[1].value, 0.7);
    EXPECT_NEAR(fit.constants[1].sigma, 0.3, 1e-9);
}

/// 400 runs of deviation s = 5 % tell a rate of all the step to within s / 20; runs of one source that are off together
/// by 5 %, too, to within 5 %; of 100 sources to within sqrt(5 %^2 / 100 + (s / 20)^2).
TEST(PriorFit, runs_of_one_source_are_off_together) {
    MadeUpRuns runs(0.8, 0.8, 0.05, 400);
    std::ranges::fill(runs.shares, 1.0);
    const std::vector<PriorConstant> priors{{1, 1, 0.1, 10}, {1, 1, 0.1, 10}};
    const auto sigma = [&](const Sources& sources) { return runs.fit(priors, sources).constants[0].sigma; };
    EXPECT_NEAR(sigma({1, 0}), 0.0025, 0.0005);
    EXPECT_NEAR(sigma({1, 0.05}), 0.05, 0.005);
    EXPECT_NEAR(sigma({100, 0.05}), 0.0056, 0.0006);
}

/// All runs twice as long, or as short, however narrow the prior: what is common to all is what the constant is for.
TEST(PriorFit, runs_that_are_all_far_off_are_met) {
    for (const double factor : {0.5, 0.67, 1.5, 2.0}) {
        MadeUpRuns runs(0.8, 0.8, 0.02, 8);
        for (double& measured : runs.measured) {
            measured *= factor;
        }
        const PriorFit fit = runs.fit({{0.8, 0.035, 0.08, 8}, {0.8, 0.035, 0.08, 8}});
        EXPECT_NEAR(fit.constants[0].value * factor, 0.8, 0.1) << factor;
        EXPECT_GT(*std::ranges::min_element(fit.weights), 0.1) << factor;
    }
}

/// One run whose seconds are milliseconds has no say, and its weight says so.
TEST(PriorFit, a_run_in_other_units_has_no_weight) {
    MadeUpRuns runs(0.8, 0.8, 0.01, 9);
    runs.measured[4] *= 1000;
    const PriorFit fit = runs.fit({{1, 0.5, 0.1, 10}, {0.8, 0.5, 0.1, 10}});
    EXPECT_EQ(fit.weights[4], 0);
    EXPECT_GT(fit.weights[3], 0.5);
}

/// At its bound a constant stays, and the other one is what is best then: all of the step at the second rate.
TEST(PriorFit, bounds_hold_and_the_others_go_on) {
    const MadeUpRuns runs(2, 0.5, 0, 12);
    const PriorFit fit = runs.fit({{0.9, 1, 0.1, 1}, {1, 1, 0.1, 10}});
    EXPECT_DOUBLE_EQ(fit.constants[0].value, 1);
    EXPECT_GT(fit.constants[1].value, 0.5);
    EXPECT_LT(fit.constants[1].value, 1);
}

/// With a prior as narrow as what runs tell, halfway in logarithms.
TEST(PriorFit, a_prior_pulls_by_its_precision) {
    MadeUpRuns runs(0.8, 0.8, 0, 1);
    runs.shares = {1}, runs.measured = {1 / 0.8};
    constexpr double kLeastDeviation = 0.01;
    const PriorFit fit = runs.fit({{0.81, kLeastDeviation, 0.1, 10}, {1, 1, 0.1, 10}});
    EXPECT_NEAR(std::log(fit.constants[0].value), (std::log(0.8) + std::log(0.81)) / 2, 0.002);
}

}  // namespace
}  // namespace auspex::fit
