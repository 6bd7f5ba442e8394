/// @file Rotary embedding and attention against their formulas, gradients against differences.
#include "exec/kernels/attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace testing_kernels;

TEST(Rotate, turns_the_halves_of_a_head) {
    // Row 7 of sequences of 5 tokens is position 2; two heads of 6, rows of 15.
    const double theta = 100;
    const Numbers before = random_numbers(10 * 15, 1);
    Numbers x = before;
    rotate(10, 5, 2, 6, theta, x.data(), 15, false);
    for (std::size_t row = 0; row < 10; ++row) {
        for (std::size_t head = 0; head < 2; ++head) {
            for (std::size_t i = 0; i < 3; ++i) {
                const double w = static_cast<double>(row % 5) * std::pow(theta, -2.0 * static_cast<double>(i) / 6);
                const std::size_t at = row * 15 + head * 6 + i;
                const double a = before[at], b = before[at + 3];
                EXPECT_NEAR(x[at], a * std::cos(w) - b * std::sin(w), 1e-14);
                EXPECT_NEAR(x[at + 3], b * std::cos(w) + a * std::sin(w), 1e-14);
            }
        }
        EXPECT_TRUE(std::equal(&x[row * 15 + 12], &x[row * 15] + 15, &before[row * 15 + 12])) << "behind the heads";
    }
}

template <typename V>
double error_of_turning_back() {
    const Numbers before = random_numbers(64 * 32, 2);
    std::vector<V> x = as<V>(before);
    rotate(64, 32, 4, 8, 10000, x.data(), 32, false);
    EXPECT_GT(relative_error(numbers_of(x), before), 0.5);
    rotate(64, 32, 4, 8, 10000, x.data(), 32, true);
    return relative_error(numbers_of(x), before);
}

TEST(Rotate, inverse_turns_back) {
    EXPECT_LE(error_of_turning_back<double>(), 1e-15);
    EXPECT_LE(error_of_turning_back<float>(), 2e-7);
    EXPECT_LE(error_of_turning_back<Bf16>(), 5e-3);
}

TEST(Rotate, follows_its_arguments_and_not_earlier_calls) {
    const Numbers before = random_numbers(8 * 8, 3);
    const auto rotated = [&before](std::size_t sequence, std::size_t heads, double theta) {
        Numbers x = before;
        rotate(8, sequence, heads, 8 / heads, theta, x.data(), 8, false);
        return x;
    };
    const Numbers first = rotated(8, 1, 50);
    EXPECT_NE(rotated(8, 2, 50), first);
    EXPECT_NE(rotated(8, 1, 60), first);
    EXPECT_NE(rotated(4, 1, 50), first);
    EXPECT_EQ(rotated(8, 1, 50), first);
}

/// Queries, keys and values of a token in one row, as projected.
struct Case {
    std::size_t sequences, sequence, heads, kv_heads, head_size, window = 0;

    [[nodiscard]] std::size_t q_width() const { return heads * head_size; }
    [[nodiscard]] std::size_t kv_width() const { return kv_heads * head_size; }
    [[nodiscard]] std::size_t row() const { return q_width() + 2 * kv_width(); }
    [[nodiscard]] std::size_t tokens() const { return sequences * sequence; }
    [[nodiscard]] AttentionSizes sizes() const {
        AttentionSizes of{sequences, sequence, heads, kv_heads, head_size, row(), row(), row(), row()};
        of.window = window;
        return of;
    }
    [[nodiscard]] Numbers qkv() const { return random_numbers(tokens() * row(), 4); }
    [[nodiscard]] Numbers d_output() const { return random_numbers(tokens() * q_width(), 5); }
};

constexpr Case kCases[] = {{1, 1, 1, 1, 2},     {2, 5, 4, 2, 4},     {1, 70, 2, 1, 4},    {2, 64, 1, 1, 2},
                           {1, 70, 2, 1, 4, 5}, {2, 65, 1, 1, 2, 1}, {1, 70, 2, 2, 2, 66}};
constexpr Case kLarge{2, 150, 6, 2, 32}, kLargeWindow{2, 150, 6, 2, 32, 40};

template <typename V>
struct Forward {
    std::vector<V> output;
    std::vector<RealOf<V>> lse;
};

template <typename V>
Forward<V> forward(const Case& c, const std::vector<V>& qkv) {
    Forward<V> result{std::vector<V>(c.tokens() * c.q_width()), std::vector<RealOf<V>>(c.tokens() * c.heads)};
    attention_forward(c.sizes(), qkv.data(), qkv.data() + c.q_width(), qkv.data() + c.q_width() + c.kv_width(),
                      result.output.data(), result.lse.data());
    return result;
}

template <typename V>
Numbers backward(const Case& c) {
    const std::vector<V> qkv = as<V>(c.qkv()), d_output = as<V>(c.d_output());
    const Forward<V> result = forward(c, qkv);
    std::vector<V> d_qkv(qkv.size(), stored<V>(7.0));
    std::vector<RealOf<V>> delta(c.tokens() * c.heads);
    const std::size_t k = c.q_width(), v = k + c.kv_width();
    attention_backward(c.sizes(), qkv.data(), qkv.data() + k, qkv.data() + v, result.output.data(), result.lse.data(),
                       d_output.data(), delta.data(), d_qkv.data(), d_qkv.data() + k, d_qkv.data() + v);
    return numbers_of(d_qkv);
}

/// One output row of one head and its log-sum-exp, by the formula.
struct NaiveRow {
    Numbers output;
    double lse;
};
NaiveRow naive_row(const Case& c, const Numbers& qkv, std::size_t token, std::size_t head) {
    const std::size_t first = token - token % c.sequence, kv_head = head * c.kv_heads / c.heads;
    Numbers output(c.head_size, 0);
    double sum = 0;
    const std::size_t seen = c.window == 0 ? c.sequence : c.window;
    for (std::size_t other = std::max(first + seen, token + 1) - seen; other <= token; ++other) {
        const double* const q = &qkv[token * c.row() + head * c.head_size];
        const double* const k = &qkv[other * c.row() + c.q_width() + kv_head * c.head_size];
        double score = 0;
        for (std::size_t i = 0; i < c.head_size; ++i) {
            score += q[i] * k[i];
        }
        const double weight = std::exp(score / std::sqrt(static_cast<double>(c.head_size)));
        sum += weight;
        for (std::size_t i = 0; i < c.head_size; ++i) {
            output[i] += weight * k[c.kv_width() + i];
        }
    }
    for (double& value : output) {
        value /= sum;
    }
    return {output, std::log(sum)};
}

Forward<double> naive(const Case& c, const Numbers& qkv) {
    Forward<double> result;
    for (std::size_t token = 0; token < c.tokens(); ++token) {
        for (std::size_t head = 0; head < c.heads; ++head) {
            const NaiveRow row = naive_row(c, qkv, token, head);
            result.output.insert(result.output.end(), row.output.begin(), row.output.end());
            result.lse.push_back(row.lse);
        }
    }
    return result;
}

template <typename V>
void expect_naive(const Case& c, double tolerance, double lse_tolerance) {
    const Forward<double> expected = naive(c, c.qkv());
    const Forward<V> found = forward(c, as<V>(c.qkv()));
    EXPECT_LE(relative_error(numbers_of(found.output), expected.output), tolerance) << c.sequence << " tokens";
    for (std::size_t i = 0; i < expected.lse.size(); ++i) {
        ASSERT_NEAR(double{found.lse[i]}, expected.lse[i], lse_tolerance);
    }
}

TEST(Attention, equals_the_softmax_formula) {
    for (const Case& c : kCases) {
        expect_naive<double>(c, 1e-14, 1e-13);
    }
    for (const Case& c : {kLarge, kLargeWindow}) {
        expect_naive<double>(c, 1e-14, 1e-13);
        expect_naive<float>(c, 1e-6, 1e-5);
        expect_naive<Bf16>(c, 5e-3, 1e-5);
    }
}

TEST(Attention, large_scores_do_not_overflow) {
    Numbers qkv = kLarge.qkv();
    for (double& value : qkv) {
        value *= 64;
    }
    for (const double value : numbers_of(forward(kLarge, as<float>(qkv)).output)) {
        ASSERT_TRUE(std::isfinite(value));
    }
}

TEST(Attention, later_tokens_do_not_matter) {
    const Case c{1, 130, 2, 2, 8};
    std::vector<float> qkv = as<float>(c.qkv());
    const std::vector<float> before = forward(c, qkv).output;
    for (const std::size_t position : {129U, 128U, 65U, 64U, 63U, 1U}) {
        std::fill(qkv.begin() + static_cast<std::ptrdiff_t>(position * c.row()), qkv.end(), 3.0F);
        const std::vector<float> after = forward(c, qkv).output;
        EXPECT_TRUE(std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(position * c.q_width()),
                               after.begin()))
            << "bits change before position " << position;
    }
}

TEST(Attention, tokens_behind_the_window_do_not_matter) {
    const Case c{1, 130, 2, 2, 8, 30};
    std::vector<float> qkv = as<float>(c.qkv());
    const std::vector<float> before = forward(c, qkv).output;
    for (const std::size_t position : {1U, 34U, 63U, 64U, 98U}) {  // the last that sees it: position + 29
        std::fill_n(qkv.begin(), (position + 1) * c.row(), 3.0F);
        const std::vector<float> after = forward(c, qkv).output;
        const auto from = static_cast<std::ptrdiff_t>((position + 30) * c.q_width());
        EXPECT_TRUE(std::equal(before.begin() + from, before.end(), after.begin() + from))
            << "bits change behind position " << position;
    }
}

TEST(Attention, sequences_do_not_meet) {
    const Case two{2, 70, 2, 1, 8}, one{1, 70, 2, 1, 8};
    const std::vector<float> qkv = as<float>(two.qkv());
    const std::vector<float> second(qkv.begin() + static_cast<std::ptrdiff_t>(qkv.size() / 2), qkv.end());
    const std::vector<float> both = forward(two, qkv).output, alone = forward(one, second).output;
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2)));
}

TEST(Attention, gradient_equals_differences) {
    for (const Case& c : kCases) {
        const auto loss = [&c](const Numbers& qkv) { return dot(forward(c, qkv).output, c.d_output()); };
        EXPECT_LE(relative_error(backward<double>(c), differences(loss, c.qkv())), kDifferenceError)
            << c.sequence << " tokens";
    }
}

TEST(Attention, gradients_of_all_formats_agree) {
    for (const Case& c : {kLarge, kLargeWindow}) {
        const Numbers exact = backward<double>(c);
        EXPECT_LE(relative_error(backward<float>(c), exact), kFloatError);
        EXPECT_LE(relative_error(backward<Bf16>(c), exact), kBf16Error);
    }
}

}  // namespace
}  // namespace auspex::exec
