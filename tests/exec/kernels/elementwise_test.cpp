/// @file SwiGLU, sums and the embedding against their formulas, gradients against differences.
#include "exec/kernels/elementwise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace testing_kernels;

constexpr std::size_t kRows = 5, kWidth = 37;

template <typename V>
Numbers swiglu(const Numbers& gate_up) {
    const std::vector<V> from = as<V>(gate_up);
    std::vector<V> product(from.size() / 2);
    swiglu_forward(kRows, kWidth, from.data(), product.data());
    return numbers_of(product);
}

template <typename V>
Numbers swiglu_gradient(const Numbers& gate_up, const Numbers& d_product) {
    const std::vector<V> from = as<V>(gate_up), upstream = as<V>(d_product);
    std::vector<V> gradient(from.size());
    swiglu_backward(kRows, kWidth, from.data(), upstream.data(), gradient.data());
    return numbers_of(gradient);
}

TEST(SwiGlu, value_and_gradient_follow_their_formulas) {
    const Numbers gate_up = random_numbers(kRows * 2 * kWidth, 1), upstream = random_numbers(kRows * kWidth, 2);
    const Numbers exact = swiglu<double>(gate_up), gradient = swiglu_gradient<double>(gate_up, upstream);
    const double gate = gate_up[2 * kWidth + 3], up = gate_up[3 * kWidth + 3];
    EXPECT_NEAR(exact[kWidth + 3], gate / (1 + std::exp(-gate)) * up, 1e-15) << "row 1, column 3";
    const auto loss = [&](const Numbers& at) { return dot(swiglu<double>(at), upstream); };
    EXPECT_LE(relative_error(gradient, differences(loss, gate_up)), kDifferenceError);
    EXPECT_LE(relative_error(swiglu<float>(gate_up), exact), 1e-6);
    EXPECT_LE(relative_error(swiglu<Bf16>(gate_up), exact), 3e-3);
    EXPECT_LE(relative_error(swiglu_gradient<float>(gate_up, upstream), gradient), kFloatError);
    EXPECT_LE(relative_error(swiglu_gradient<Bf16>(gate_up, upstream), gradient), kBf16Error);
}

TEST(SwiGlu, large_gates_stay_finite) {
    const float gate_up[] = {-200, 200, 1, 1}, upstream[] = {1, 1};
    float product[2], gradient[4];
    swiglu_forward(1, 2, gate_up, product);
    swiglu_backward(1, 2, gate_up, upstream, gradient);
    EXPECT_EQ(product[0], 0);
    EXPECT_EQ(product[1], 200);
    EXPECT_EQ(gradient[0], 0);
    EXPECT_EQ(gradient[1], 1);
}

template <typename V>
Numbers gelu(const Numbers& x) {
    const std::vector<V> from = as<V>(x);
    std::vector<V> y(from.size());
    gelu_forward(kRows, kWidth, from.data(), y.data());
    return numbers_of(y);
}

template <typename V>
Numbers gelu_gradient(const Numbers& x, const Numbers& dy) {
    const std::vector<V> from = as<V>(x), upstream = as<V>(dy);
    std::vector<V> dx(from.size());
    gelu_backward(kRows, kWidth, from.data(), upstream.data(), dx.data());
    return numbers_of(dx);
}

TEST(Gelu, value_and_gradient_follow_their_formulas) {
    const Numbers x = random_numbers(kRows * kWidth, 1), upstream = random_numbers(kRows * kWidth, 2);
    const Numbers exact = gelu<double>(x), gradient = gelu_gradient<double>(x, upstream);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double u = std::sqrt(2 / std::numbers::pi) * (x[i] + 0.044715 * x[i] * x[i] * x[i]);
        ASSERT_NEAR(exact[i], x[i] / 2 * (1 + std::tanh(u)), 1e-15);
    }
    const auto loss = [&](const Numbers& at) { return dot(gelu<double>(at), upstream); };
    EXPECT_LE(relative_error(gradient, differences(loss, x)), kDifferenceError);
    EXPECT_LE(relative_error(gelu<float>(x), exact), 1e-6);
    EXPECT_LE(relative_error(gelu<Bf16>(x), exact), 3e-3);
    EXPECT_LE(relative_error(gelu_gradient<float>(x, upstream), gradient), kFloatError);
    EXPECT_LE(relative_error(gelu_gradient<Bf16>(x, upstream), gradient), kBf16Error);
}

TEST(Gelu, is_the_identity_of_large_numbers_and_nothing_of_small_ones) {
    const float x[] = {-200, 200}, upstream[] = {1, 1};
    float y[2], dx[2];
    gelu_forward(1, 2, x, y);
    gelu_backward(1, 2, x, upstream, dx);
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[1], 200);
    EXPECT_EQ(dx[0], 0);
    EXPECT_EQ(dx[1], 1);
}

TEST(Bias, is_added_to_every_row_and_its_gradient_is_their_sum_rounded_once) {
    float y[] = {1, 2, 3, 4, 5, 6};
    const float bias[] = {10, 20, 30};
    add_bias(2, 3, bias, y);
    EXPECT_EQ((std::vector<float>(y, y + 6)), (std::vector<float>{11, 22, 33, 14, 25, 36}));
    // 256 + 1 is not a number of bf16; 256 + 1 + 1 is.
    const std::vector<Bf16> dy = as<Bf16>({1, 2, 1, 3});
    std::vector<Bf16> gradient = as<Bf16>({256, 7});
    bias_gradient(2, 2, dy.data(), gradient.data());
    EXPECT_EQ(numbers_of(gradient), (Numbers{258, 12}));
}

TEST(Add, rounds_once_and_may_replace_its_operands) {
    std::vector<Bf16> a = as<Bf16>({1, 1, -3}), b = as<Bf16>({0x1p-8, 3 * 0x1p-8, 3});
    add(3, a.data(), b.data(), a.data());
    EXPECT_EQ(numbers_of(a), (Numbers{1, 1 + 0x1p-6, 0}));
    add(3, a.data(), b.data(), b.data());
    EXPECT_EQ(numbers_of(b), (Numbers{1, 1 + 0x1p-5, 3}));
}

/// sum i^2 = n (n + 1) (2 n + 1) / 6, exact in doubles, for counts on both sides of whole vectors.
TEST(SquareSum, adds_the_square_of_every_element_once) {
    for (const std::size_t n : {0U, 1U, 31U, 32U, 33U, 95U, 1000U}) {
        std::vector<float> values(n);
        for (std::size_t i = 0; i < n; ++i) {
            values[i] = (i % 2 == 0 ? 1.0F : -1.0F) * static_cast<float>(i + 1);
        }
        const auto count = static_cast<double>(n);
        EXPECT_EQ(square_sum(n, values.data()), count * (count + 1) * (2 * count + 1) / 6) << n;
    }
}

TEST(Embedding, rows_of_other_ranks_are_zero) {
    const Numbers table = {1, 2, 3, 4, 5, 6};  // tokens 10, 11, 12
    const std::int32_t tokens[] = {11, 9, 12, 13, 10, -5};
    Numbers x(12, 7);
    embedding_forward(6, 2, tokens, 10, 3, table.data(), x.data());
    EXPECT_EQ(x, (Numbers{3, 4, 0, 0, 5, 6, 0, 0, 1, 2, 0, 0}));
}

TEST(Embedding, gradient_is_added_per_token) {
    const std::int32_t tokens[] = {11, 9, 12, 11, 13};
    const Numbers dx = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    Numbers gradient = {100, 100, 100, 100, 100, 100};
    embedding_backward(5, 2, tokens, 10, 3, dx.data(), gradient.data());
    EXPECT_EQ(gradient, (Numbers{100, 100, 108, 110, 105, 106}));
}

TEST(Embedding, a_frequent_token_is_not_lost_in_bf16) {
    const std::vector<std::int32_t> tokens(1024, 0);
    const std::vector<Bf16> dx(1024, stored<Bf16>(1.0));
    std::vector<Bf16> gradient(1);
    embedding_backward(1024, 1, tokens.data(), 0, 1, dx.data(), gradient.data());
    EXPECT_EQ(real(gradient[0]), 1024) << "one by one the sum would stay at 256";
}

}  // namespace
}  // namespace auspex::exec
