/// @file Beside printed tables.
#include "base/statistics/distributions.hpp"

#include <gtest/gtest.h>

#include "base/statistics/interval.hpp"

namespace auspex {
namespace {

TEST(Distributions, quantiles_of_the_normal_are_those_of_tables) {
    EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
    EXPECT_NEAR(normal_quantile(0.975), 1.959963985, 1e-9);
    EXPECT_NEAR(normal_quantile(1e-10), -6.361340902, 1e-9);
    EXPECT_NEAR(normal_quantile(1 - 1e-10), 6.361340902, 1e-6);
}

TEST(Distributions, students_t_is_that_of_tables) {
    // t(0.975) for 1, 2 … degrees of freedom.
    const double expected[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706};
    for (int degrees = 1; degrees <= 5; ++degrees) {
        EXPECT_NEAR(student_95(degrees), expected[degrees - 1], 5e-5) << degrees;
    }
    EXPECT_NEAR(student_95(30), 2.0423, 5e-5);
    EXPECT_NEAR(student_95(1'000'000), 1.95997, 5e-6);
    EXPECT_EQ(student_95(0), student_95(1));
}

TEST(Distributions, estimates_and_their_deviations_are_inverse) {
    const Estimate estimate = estimate_of_95(5, 0.5);
    EXPECT_NEAR(estimate.high, 5 + 1.959963985 * 0.5, 1e-9);
    EXPECT_NEAR(sigma_of_95(estimate.interval()), 0.5, 1e-15);
    EXPECT_EQ(estimate_of_95(5, 5).low, 0);
}

TEST(Distributions, ranges_grow_with_what_they_are_of) {
    double before = 0;
    for (int count = 2; count < 60; ++count) {
        EXPECT_GT(mean_normal_range(count), before) << count;
        before = mean_normal_range(count);
    }
    EXPECT_NEAR(mean_normal_range(20), 3.735, 0.04);  // tables of d2 end with 20 to 25
}

}  // namespace
}  // namespace auspex
