/// @file Closed forms against numbers worked out by hand or published.
#include "campaign/closed_forms.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace auspex::campaign {
namespace {

TEST(ClosedForms, young_and_daly_of_an_hour_and_half_a_minute) {
    const PoissonRun run{3600, 30, 300};
    EXPECT_NEAR(young_interval_s(run), std::sqrt(2.0 * 30 * 3600), 1e-9);  // 464.76 s
    // 464.758 (1 + sqrt(30 / 7200) / 3 + 30 / 7200 / 9) - 30 = 464.758 x 1.021980 - 30
    EXPECT_NEAR(daly_interval_s(run), 444.973, 0.005);
    EXPECT_DOUBLE_EQ(daly_interval_s({10, 30, 0}), 10);
}

TEST(ClosedForms, exact_optimum_has_no_better_neighbours_and_does_not_depend_on_the_restart) {
    for (const double mtbf_s : {600.0, 3600.0, 86400.0}) {
        for (const double stall_s : {0.1, 1.0, 30.0, 300.0}) {
            const PoissonRun run{mtbf_s, stall_s, 120};
            const double best_s = exact_interval_s(run);
            EXPECT_GT(exact_efficiency(run, best_s), exact_efficiency(run, best_s * 1.01));
            EXPECT_GT(exact_efficiency(run, best_s), exact_efficiency(run, best_s * 0.99));
            EXPECT_DOUBLE_EQ(best_s, exact_interval_s({mtbf_s, stall_s, 0}));
            if (stall_s < mtbf_s / 100) {
                EXPECT_NEAR(daly_interval_s(run), best_s, 0.002 * best_s);
            }
        }
    }
    EXPECT_DOUBLE_EQ(exact_interval_s({3600, 0, 60}), 0);
}

TEST(ClosedForms, rare_interruptions_lose_half_an_interval_and_a_restart_each) {
    // 1 / efficiency -> 1 + d / t + (t / 2 + R + ...) / M
    const PoissonRun run{1e7, 10, 100};
    EXPECT_NEAR(1 / exact_efficiency(run, 1000), 1 + 0.01 + (1.01 * 505.0 + 101.0) / 1e7, 1e-6);
}

TEST(ClosedForms, a_run_is_the_sum_of_its_segments) {
    const PoissonRun run{5000, 20, 60};
    EXPECT_NEAR(run_time_s(run, 250, 100, 2.5), 2 * segment_time_s(run, 250) + segment_time_s(run, 125), 1e-9);
}

TEST(ClosedForms, spare_quantiles_of_machines_that_fail_once_in_three_years) {
    // Sums of binomial terms by hand: 98.94 % for at most one of 128, 99.95 % for two.
    EXPECT_EQ(binomial_quantile(128, 0.0012, 0.99), 2);
    EXPECT_EQ(binomial_quantile(256, 0.0012, 0.99), 2);
    EXPECT_EQ(binomial_quantile(512, 0.0012, 0.99), 3);
    EXPECT_EQ(binomial_quantile(1024, 0.0012, 0.99), 4);
    EXPECT_EQ(binomial_quantile(10, 0, 0.99), 0);
    EXPECT_EQ(binomial_quantile(10, 1, 0.99), 10);
    // Three tosses: 1/8, 3/8, 3/8, 1/8.
    EXPECT_EQ(binomial_quantile(3, 0.5, 0.5), 1);
    EXPECT_EQ(binomial_quantile(3, 0.5, 0.51), 2);
}

}  // namespace
}  // namespace auspex::campaign
