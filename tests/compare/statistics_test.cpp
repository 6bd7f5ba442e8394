/// @file Quantiles, spreads and rank agreement by hand.
#include "compare/statistics.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace auspex {
namespace {

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
