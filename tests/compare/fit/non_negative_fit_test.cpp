/// @file Coefficients come back from data that were made with them.
#include "compare/fit/cost_models/non_negative_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.hpp"
#include "base/statistics/quantiles.hpp"

namespace auspex::fit {
namespace {

/// y = start + a n + b n m for a grid of n and m, with relative noise.
std::vector<Observation> grid(double start, double a, double b, double noise) {
    Rng random(7);
    std::vector<Observation> observations;
    for (const double n : {8.0, 32.0, 128.0, 512.0, 2048.0}) {
        for (const double m : {16.0, 64.0, 256.0, 1024.0}) {
            const double y = (start + a * n + b * n * m) * (1 + noise * random.normal());
            observations.push_back({{1, n, n * m}, y, 1});
        }
    }
    return observations;
}

double largest(const std::vector<double>& residuals) {
    double most = 0;
    for (const double residual : residuals) {
        most = std::max(most, std::abs(residual));
    }
    return most;
}

TEST(NonNegativeFit, exact_data_give_their_coefficients) {
    // Sizes span five powers of ten, coefficients four: relative weights and scaled columns keep all digits.
    const NonNegativeFit fit = fit_non_negative(grid(2e-6, 3e-9, 5e-11, 0), 1);
    ASSERT_EQ(fit.coefficients.size(), 3U);
    EXPECT_NEAR(fit.coefficients[0].value / 2e-6, 1, 1e-9);
    EXPECT_NEAR(fit.coefficients[1].value / 3e-9, 1, 1e-9);
    EXPECT_NEAR(fit.coefficients[2].value / 5e-11, 1, 1e-9);
    EXPECT_LT(largest(fit.residuals), 1e-9);
}

TEST(NonNegativeFit, intervals_hold_the_truth_and_errors_are_those_of_the_noise) {
    const NonNegativeFit fit = fit_non_negative(grid(2e-6, 3e-9, 5e-11, 0.03), 1);
    const double truth[] = {2e-6, 3e-9, 5e-11};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_LE(fit.coefficients[i].low, truth[i]) << i;
        EXPECT_GE(fit.coefficients[i].high, truth[i]) << i;
    }
    EXPECT_NEAR(robust_deviation(fit.residuals), 0.03, 0.018);
}

TEST(NonNegativeFit, one_wild_measurement_changes_little) {
    // The law, right again, says a fifth of the row that is five times too large: residual 1 / 5 - 1.
    std::vector<Observation> observations = grid(2e-6, 3e-9, 5e-11, 0);
    observations[7].y *= 5;
    NonNegativeFit fit = fit_non_negative(observations);
    EXPECT_NEAR(fit.coefficients[2].value / 5e-11, 1, 0.01);
    EXPECT_NEAR(fit.residuals[7], 1.0 / 5 - 1, 0.01);
    fit.residuals[7] = 0;
    EXPECT_LT(largest(fit.residuals), 0.02);
}

TEST(NonNegativeFit, what_would_be_negative_is_zero_and_the_rest_fits_best) {
    // y = 10 n - 5 over n = 1, 2, 4: without a negative constant the best is c n with relative weights, c =
    // sum(n / y) / sum(n^2 / y^2).
    std::vector<Observation> observations;
    double above = 0, below = 0;
    for (const double n : {1.0, 2.0, 4.0}) {
        const double y = 10 * n - 5;
        observations.push_back({{1, n}, y, 1});
        above += n / y;
        below += n * n / y / y;
    }
    const NonNegativeFit fit = fit_non_negative(observations);
    EXPECT_EQ(fit.coefficients[0].value, 0);
    // Huber's weights take some of the outer points' weight; the slope stays between the extreme ratios y / n.
    EXPECT_GT(fit.coefficients[1].value, 5);
    EXPECT_LT(fit.coefficients[1].value, 8.75);
    EXPECT_NEAR(fit.coefficients[1].value, above / below, 1.5);
}

TEST(NonNegativeFit, columns_that_cannot_be_told_apart_share_without_trouble) {
    // y = 6 n of columns n and 2 n: any a, b with a + 2 b = 6.
    std::vector<Observation> observations;
    for (const double n : {1.0, 2.0, 3.0, 4.0}) {
        observations.push_back({{n, 2 * n, 0}, 6 * n, 1});
    }
    const NonNegativeFit fit = fit_non_negative(observations, 1);
    EXPECT_NEAR(fit.coefficients[0].value + 2 * fit.coefficients[1].value, 6, 1e-9);
    EXPECT_EQ(fit.coefficients[2].value, 0);
}

TEST(NonNegativeFit, the_same_seed_gives_the_same_intervals) {
    const auto observations = grid(2e-6, 3e-9, 5e-11, 0.05);
    const NonNegativeFit a = fit_non_negative(observations, 3), b = fit_non_negative(observations, 3);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(a.coefficients[i].low, b.coefficients[i].low);
        EXPECT_EQ(a.coefficients[i].high, b.coefficients[i].high);
    }
}

}  // namespace
}  // namespace auspex::fit
