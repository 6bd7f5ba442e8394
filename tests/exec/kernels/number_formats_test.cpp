/// @file bfloat16, and the exponential function.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "exec/kernels/exponential.hpp"
#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

TEST(Bf16Format, rounds_to_nearest_ties_to_even) {
    EXPECT_EQ(stored<Bf16>(1.0F).bits, 0x3f80);
    EXPECT_EQ(stored<Bf16>(1 + 0x1p-8F).bits, 0x3f80) << "half way between 1 and 1 + 2^-7: to the even one";
    EXPECT_EQ(stored<Bf16>(1 + 3 * 0x1p-8F).bits, 0x3f82) << "half way: to the even one, above";
    EXPECT_EQ(stored<Bf16>(1 + 0x1p-8F + 0x1p-20F).bits, 0x3f81);
    EXPECT_EQ(stored<Bf16>(1 + 0x1p-8F - 0x1p-20F).bits, 0x3f80);
    EXPECT_EQ(stored<Bf16>(-1 - 0x1p-8F - 0x1p-20F).bits, 0xbf81);
    EXPECT_EQ(stored<Bf16>(2 - 0x1p-10F).bits, 0x4000) << "rounds up into the next exponent";
}

TEST(Bf16Format, infinity_nan_and_zero_stay_what_they_are) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(stored<Bf16>(kInfinity).bits, 0x7f80);
    EXPECT_EQ(stored<Bf16>(-kInfinity).bits, 0xff80);
    EXPECT_EQ(stored<Bf16>(std::numeric_limits<float>::max()).bits, 0x7f80) << "beyond the largest: infinity";
    EXPECT_EQ(stored<Bf16>(-0.0F).bits, 0x8000);
    for (const std::uint32_t bits : {0x7f800001U, 0x7fffffffU, 0xff800001U, 0x7fc00000U}) {
        EXPECT_TRUE(std::isnan(real(stored<Bf16>(std::bit_cast<float>(bits))))) << bits;
    }
}

TEST(Bf16Format, every_value_survives_widening) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const Bf16 value{static_cast<std::uint16_t>(bits)};
        if (!std::isnan(real(value))) {
            ASSERT_EQ(stored<Bf16>(real(value)).bits, bits);
        }
    }
}

TEST(Exponential, is_within_two_units_in_the_last_place) {
    for (float x = -87; x < 88.7F; x += 0.00123F) {
        const double exact = std::exp(double{x});
        const auto rounded = static_cast<float>(exact);
        const double unit = double{std::nextafter(rounded, std::numeric_limits<float>::infinity())} - double{rounded};
        ASSERT_LE(std::abs(double{exponential(x)} - exact), 2 * unit) << x;
    }
}

TEST(Exponential, ends_in_zero_and_infinity) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(exponential(0.0F), 1);
    EXPECT_EQ(exponential(-kInfinity), 0);
    EXPECT_EQ(exponential(-1000.0F), 0);
    EXPECT_EQ(exponential(kInfinity), kInfinity);
    EXPECT_EQ(exponential(89.0F), kInfinity);
    EXPECT_NEAR(exponential(-100.0F), std::exp(-100.0), 2e-45) << "below the normal numbers";
    EXPECT_TRUE(std::isnan(exponential(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace auspex::exec
