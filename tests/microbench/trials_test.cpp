/// @file Several looks at one thing: those on slowed cores never mix with the others.
#include "microbench/trials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.hpp"
#include "base/statistics/quantiles.hpp"

namespace auspex::microbench {
namespace {

Trial calm(double seconds, double probe_s = 1e-4) { return {{seconds, 0.01, 5}, probe_s, true}; }
Trial slowed(double seconds) { return {{seconds, 0.02, 5}, 1e-4 * seconds, false}; }

/// seconds = median of the calm ones: of three the middle, of two the mean.
TEST(Trials, the_median_of_calm_ones_counts_not_the_fastest) {
    EXPECT_DOUBLE_EQ(combined(std::vector{calm(1.04), calm(1.00), calm(1.02)}).seconds, 1.02);
    EXPECT_DOUBLE_EQ(combined(std::vector{calm(1.04), calm(1.00)}).seconds, 1.02);
    EXPECT_EQ(combined(std::vector{calm(1.04), calm(1.00)}).count, 10);
    EXPECT_TRUE(combined(std::vector{calm(1.04), calm(1.00)}).is_undisturbed);
    EXPECT_DOUBLE_EQ(combined(std::vector{calm(1, 3e-4), calm(1, 2e-4), slowed(9)}).probe_s, 2.5e-4);
}

TEST(Trials, slowed_ones_never_mix_with_calm_ones) {
    // Even a faster one: its probe says that the cores were not what the others saw.
    const Trial trial = combined(std::vector{slowed(0.9), calm(1.1), slowed(1.5)});
    EXPECT_DOUBLE_EQ(trial.seconds, 1.1);
    EXPECT_DOUBLE_EQ(trial.spread, 0.01);
    EXPECT_EQ(trial.count, 5);
    EXPECT_TRUE(trial.is_undisturbed);
}

TEST(Trials, of_slowed_ones_alone_the_one_that_was_slowed_least_counts) {
    const Trial trial = combined(std::vector{slowed(1.5), slowed(1.3), slowed(1.4)});
    EXPECT_DOUBLE_EQ(trial.seconds, 1.3);
    EXPECT_DOUBLE_EQ(trial.probe_s, 1.3e-4);
    EXPECT_FALSE(trial.is_undisturbed);
}

TEST(Trials, looks_that_disagree_spread) {
    // Quartiles of {1, 1.1, 1.2} are 1.05 and 1.15: spread = 0.1 / 1.349 / 1.1.
    EXPECT_NEAR(combined(std::vector{calm(1), calm(1.1), calm(1.2)}).spread, 0.1 / 1.349 / 1.1, 1e-12);
}

/// Looks at 1 s with 3 % of noise: the mean of many rows is 1, that of minima of three would be 1 - 0.85 x 3 %.
TEST(Trials, a_row_is_not_biased_by_how_many_looks_there_were) {
    Rng random(11);
    double sum = 0;
    constexpr int kRows = 4000;
    for (int row = 0; row < kRows; ++row) {
        std::vector<Trial> looks;
        for (int i = 0; i < 3; ++i) {
            looks.push_back(calm(1 + 0.03 * random.normal()));
        }
        sum += combined(looks).seconds;
    }
    EXPECT_NEAR(sum / kRows, 1, 0.002);
}

}  // namespace
}  // namespace auspex::microbench
