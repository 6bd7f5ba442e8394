/// @file Quantiles, spreads and rank agreement by hand.
#include "base/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.hpp"
#include "base/statistics/distributions.hpp"
#include "base/statistics/interval.hpp"

namespace auspex {
namespace {

/// ln distances 0.3 and 0.4 of the ends, 0.3 of the spread: hypot(0.3, 0.3) below, hypot(0.4, 0.3) = 0.5 above.
TEST(Statistics, an_independent_spread_widens_an_interval_in_quadrature_of_logarithms) {
    const Interval wide = widened(10, {10 * std::exp(-0.3), 10 * std::exp(0.4)}, 0.3 / normal_reach(0.9));
    EXPECT_NEAR(wide.low, 10 * std::exp(-0.3 * std::sqrt(2.0)), 1e-9);
    EXPECT_NEAR(wide.high, 10 * std::exp(0.5), 1e-9);
    EXPECT_NEAR(widened(10, {8, 13}, 0).low, 8, 1e-9);
    EXPECT_NEAR(widened(10, {8, 13}, 0).high, 13, 1e-9);
}

TEST(Statistics, a_quantile_lies_between_neighbours) {
    // Sorted: 1 2 3 4. The share q is at position 3 q, so 1/2 is half way between 2 and 3, and 5/6 between 3 and 4.
    const std::vector<double> values{4, 1, 3, 2};
    EXPECT_DOUBLE_EQ(median(values), 2.5);
    EXPECT_DOUBLE_EQ(quantile(values, 5.0 / 6), 3.5);
    EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
    EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
    EXPECT_DOUBLE_EQ(median(std::vector<double>{7}), 7);
}

TEST(Statistics, the_relative_spread_takes_no_notice_of_one_outlier) {
    // Quartiles 2 and 4, median 3: (4 - 2) / 1.349 / 3.
    EXPECT_DOUBLE_EQ(relative_spread(std::vector<double>{1, 2, 3, 4, 1000}), 2 / 1.349 / 3);
    EXPECT_DOUBLE_EQ(relative_spread(std::vector<double>{5, 5, 5}), 0);
}

TEST(Statistics, few_values_have_the_spread_of_their_range) {
    // (largest - smallest) / d2(n) / median, d2 = 1.128, 1.693, 2.059, 2.326 of 2 to 5 values; from six on quartiles.
    EXPECT_DOUBLE_EQ(relative_noise(std::vector<double>{1, 3}).value(), 2 / 1.128 / 2);
    EXPECT_DOUBLE_EQ(relative_noise(std::vector<double>{4, 1, 2}).value(), 3 / 1.693 / 2);
    EXPECT_DOUBLE_EQ(relative_noise(std::vector<double>{1, 2, 3, 5}).value(), 4 / 2.059 / 2.5);
    EXPECT_DOUBLE_EQ(relative_noise(std::vector<double>{1, 2, 3, 4, 6}).value(), 5 / 2.326 / 3);
    const std::vector<double> six{1, 2, 3, 4, 5, 1000};
    EXPECT_DOUBLE_EQ(relative_noise(six).value(), relative_spread(six));
    EXPECT_FALSE(relative_noise(std::vector<double>{1}).has_value()) << "one value has no spread, not none at all";
    EXPECT_FALSE(relative_noise({}).has_value());
}

TEST(Statistics, the_mean_noise_of_few_values_is_their_standard_deviation) {
    // Normal values of mean 1 and standard deviation 0.01: the mean of many estimates is 0.01. (That of interpolated
    // quartiles of three values would be 0.0063.)
    constexpr int kSamples = 20'000;
    constexpr double kDeviation = 0.01;
    Rng rng(1);
    for (std::size_t n = 2; n <= 5; ++n) {
        double sum = 0;
        std::vector<double> values(n);
        for (int sample = 0; sample < kSamples; ++sample) {
            std::generate(values.begin(), values.end(), [&rng] { return 1 + kDeviation * rng.normal(); });
            sum += relative_noise(values).value();
        }
        EXPECT_NEAR(sum / kSamples, kDeviation, 0.02 * kDeviation) << n << " values";
    }
}

TEST(Statistics, tau_counts_pairs_that_measurements_tell_apart) {
    const std::vector<double> measured{1, 2, 4};
    // All three pairs concordant; reversed: all discordant; one tie in the prediction: (2 + 0) / 3.
    EXPECT_DOUBLE_EQ(kendall_tau(measured, std::vector<double>{1, 2, 3}, 0).tau, 1);
    EXPECT_DOUBLE_EQ(kendall_tau(measured, std::vector<double>{3, 2, 1}, 0).tau, -1);
    EXPECT_DOUBLE_EQ(kendall_tau(measured, std::vector<double>{1, 1, 3}, 0).tau, 2.0 / 3);
    // Only 1 against 4 is further apart than ln 2.
    const RankAgreement far = kendall_tau(measured, std::vector<double>{2, 1, 3}, 0.7);
    EXPECT_EQ(far.pairs, 1);
    EXPECT_DOUBLE_EQ(far.tau, 1);
    EXPECT_DOUBLE_EQ(kendall_tau(measured, std::vector<double>{3, 2, 1}, 10).tau, 1);
}

TEST(Statistics, regret_is_what_the_chosen_case_takes_more_than_the_best) {
    // The smallest prediction is of the case that takes 3, the best takes 2: 3 / 2 - 1.
    EXPECT_DOUBLE_EQ(regret_of_predicted_best(std::vector<double>{3, 2, 4}, std::vector<double>{1, 1.5, 2}), 0.5);
    EXPECT_DOUBLE_EQ(regret_of_predicted_best(std::vector<double>{3, 2, 4}, std::vector<double>{2, 1, 3}), 0);
}

}  // namespace
}  // namespace auspex
