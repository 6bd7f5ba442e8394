/// @file Random numbers: reference values and moments.
#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace auspex {
namespace {

constexpr int kDraws = 200000;

TEST(Rng, equal_seeds_give_equal_streams_and_others_differ) {
    Rng a(1), b(1), c(2);
    int equal_to_other = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t value = a.next();
        EXPECT_EQ(value, b.next());
        equal_to_other += value == c.next() ? 1 : 0;
    }
    EXPECT_EQ(equal_to_other, 0);
}

/// The first words of xoshiro256** whose state is splitmix64(0) = e220a8397b1dcdaf, 6e789e6aa1b965f4, …: computed from
/// the recurrences with arbitrary-precision integers.
TEST(Rng, the_stream_of_seed_zero_is_the_published_recurrence) {
    Rng rng(0);
    EXPECT_EQ(rng.next(), 0x99ec5f36cb75f2b4U);
    EXPECT_EQ(rng.next(), 0xbf6e1f784956452aU);
    EXPECT_EQ(rng.next(), 0x1a5f849d4933e6e0U);
}

TEST(Rng, below_stays_in_range_and_reaches_every_value) {
    Rng rng(3);
    int count[7] = {};
    for (int i = 0; i < 7000; ++i) {
        const std::uint64_t value = rng.below(7);
        ASSERT_LT(value, 7U);
        ++count[value];
    }
    for (const int n : count) {
        EXPECT_NEAR(n, 1000, 150);  // five standard deviations: sqrt(7000 * 1/7 * 6/7) = 29
    }
    EXPECT_EQ(rng.below(1), 0U);
}

/// Uniform on [0, 1): mean 1/2, variance 1/12.
TEST(Rng, uniform_has_the_moments_of_the_unit_interval) {
    Rng rng(4);
    double sum = 0, square = 0;
    for (int i = 0; i < kDraws; ++i) {
        const double u = rng.uniform();
        ASSERT_TRUE(u >= 0 && u < 1);
        sum += u;
        square += u * u;
    }
    EXPECT_NEAR(sum / kDraws, 0.5, 0.004);
    EXPECT_NEAR(square / kDraws - std::pow(sum / kDraws, 2), 1.0 / 12, 0.002);
}

TEST(Rng, normal_has_mean_zero_and_variance_one) {
    Rng rng(5);
    double sum = 0, square = 0;
    for (int i = 0; i < kDraws; ++i) {
        const double x = rng.normal();
        sum += x;
        square += x * x;
    }
    EXPECT_NEAR(sum / kDraws, 0, 0.012);
    EXPECT_NEAR(square / kDraws, 1, 0.02);
}

/// Gamma of shape a: mean a, variance a; below and above shape 1 the method differs.
TEST(Rng, gamma_has_mean_and_variance_equal_to_its_shape) {
    for (const double shape : {0.3, 1.0, 4.5}) {
        Rng rng(6);
        double sum = 0, square = 0;
        for (int i = 0; i < kDraws; ++i) {
            const double x = rng.gamma(shape);
            ASSERT_GE(x, 0);
            sum += x;
            square += x * x;
        }
        const double mean = sum / kDraws;
        EXPECT_NEAR(mean, shape, 0.01 * shape + 0.005) << shape;
        EXPECT_NEAR(square / kDraws - mean * mean, shape, 0.04 * shape) << shape;
    }
}

}  // namespace
}  // namespace auspex
