/// @file Latent attention against plain attention over keys put together and values filled up with zeros, and its
/// gradients against differences.
#include <gtest/gtest.h>

#include "exec/kernels/attention.hpp"
#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace testing_kernels;

/// The value no wider than the query.
struct Case {
    std::size_t sequences, sequence, heads, plain, rotated, value;

    [[nodiscard]] std::size_t tokens() const { return sequences * sequence; }
    /// Rows of shared keys lie behind as many other numbers.
    [[nodiscard]] std::size_t ld_shared() const { return 2 * rotated + 1; }
    [[nodiscard]] LatentAttentionSizes sizes() const {
        return {sequences, sequence, heads, plain, rotated, value, ld_shared()};
    }
    [[nodiscard]] std::size_t query_size() const { return tokens() * sizes().ld_query(); }
    [[nodiscard]] std::size_t key_value_size() const { return tokens() * sizes().ld_key_value(); }
    [[nodiscard]] std::size_t output_size() const { return tokens() * heads * value; }
    /// Queries, keys with values, shared keys without gaps: one behind the other.
    [[nodiscard]] Numbers input() const {
        return random_numbers(query_size() + key_value_size() + tokens() * rotated, 8);
    }
    [[nodiscard]] Numbers d_output() const { return random_numbers(output_size(), 9); }
};

constexpr Case kCases[] = {{1, 1, 1, 2, 2, 3}, {2, 5, 4, 4, 2, 3}, {1, 70, 2, 3, 4, 7}, {2, 6, 2, 4, 0, 2}};
constexpr Case kLarge{2, 150, 3, 24, 8, 16};

template <typename V>
struct Operands {
    std::vector<V> q, key_value, shared;

    Operands(const Case& c, const Numbers& input) {
        const auto part = [&](std::size_t begin, std::size_t count) {
            const auto first = input.begin() + static_cast<std::ptrdiff_t>(begin);
            return as<V>(Numbers(first, first + static_cast<std::ptrdiff_t>(count)));
        };
        q = part(0, c.query_size());
        key_value = part(c.query_size(), c.key_value_size());
        const std::vector<V> keys = part(c.query_size() + c.key_value_size(), c.tokens() * c.rotated);
        shared.assign(c.tokens() * c.ld_shared(), stored<V>(5.0));
        for (std::size_t i = 0; i < keys.size(); ++i) {
            shared[i / c.rotated * c.ld_shared() + i % c.rotated] = keys[i];
        }
    }
};

template <typename V>
struct Forward {
    std::vector<V> output;
    std::vector<RealOf<V>> lse;
};

template <typename V>
Forward<V> forward(const Case& c, const Operands<V>& x) {
    Forward<V> result{std::vector<V>(c.output_size()), std::vector<RealOf<V>>(c.tokens() * c.heads)};
    latent_attention_forward(c.sizes(), x.q.data(), x.key_value.data(), x.shared.data(), result.output.data(),
                             result.lse.data());
    return result;
}

template <typename V>
Numbers backward(const Case& c) {
    const Operands<V> x(c, c.input());
    const std::vector<V> d_output = as<V>(c.d_output());
    const Forward<V> result = forward(c, x);
    std::vector<V> d_input(c.input().size(), stored<V>(7.0));
    std::vector<RealOf<V>> delta(c.tokens() * c.heads);
    V* const d_key_value = d_input.data() + c.query_size();
    latent_attention_backward(c.sizes(), x.q.data(), x.key_value.data(), x.shared.data(), result.output.data(),
                              result.lse.data(), d_output.data(), delta.data(), d_input.data(), d_key_value,
                              d_key_value + c.key_value_size());
    return numbers_of(d_input);
}

/// head h: key [plain | shared], value [value | zeros], as wide as the query.
Forward<double> by_plain_attention(const Case& c, const Operands<double>& x) {
    const std::size_t width = c.plain + c.rotated, row = c.heads * width;
    Numbers k(c.tokens() * row), v(c.tokens() * row);
    for (std::size_t token = 0; token < c.tokens(); ++token) {
        for (std::size_t head = 0; head < c.heads; ++head) {
            const double* const own = &x.key_value[(token * c.heads + head) * (c.plain + c.value)];
            double* const key = &k[token * row + head * width];
            std::copy_n(own, c.plain, key);
            std::copy_n(x.shared.data() + token * c.ld_shared(), c.rotated, key + c.plain);
            std::copy_n(own + c.plain, c.value, &v[token * row + head * width]);
        }
    }
    Numbers wide(c.tokens() * row);
    Forward<double> result{{}, Numbers(c.tokens() * c.heads)};
    attention_forward(AttentionSizes{c.sequences, c.sequence, c.heads, c.heads, width, row, row, row, row}, x.q.data(),
                      k.data(), v.data(), wide.data(), result.lse.data());
    for (std::size_t of_head = 0; of_head < c.tokens() * c.heads; ++of_head) {
        const auto first = wide.begin() + static_cast<std::ptrdiff_t>(of_head * width);
        result.output.insert(result.output.end(), first, first + static_cast<std::ptrdiff_t>(c.value));
    }
    return result;
}

template <typename V>
void expect_plain(const Case& c, double tolerance) {
    const Forward<double> expected = by_plain_attention(c, Operands<double>(c, c.input()));
    const Forward<V> found = forward(c, Operands<V>(c, c.input()));
    EXPECT_LE(relative_error(numbers_of(found.output), expected.output), tolerance) << c.sequence << " tokens";
    EXPECT_LE(relative_error(numbers_of(found.lse), expected.lse), tolerance) << c.sequence << " tokens";
}

TEST(LatentAttention, is_attention_with_keys_of_two_parts_and_narrower_values) {
    for (const Case& c : kCases) {
        expect_plain<double>(c, 1e-14);
    }
    expect_plain<double>(kLarge, 1e-14);
    expect_plain<float>(kLarge, 1e-6);
    expect_plain<Bf16>(kLarge, 5e-3);
}

TEST(LatentAttention, gradient_equals_differences) {
    for (const Case& c : kCases) {
        const auto loss = [&c](const Numbers& input) {
            return dot(forward(c, Operands<double>(c, input)).output, c.d_output());
        };
        EXPECT_LE(relative_error(backward<double>(c), differences(loss, c.input())), kDifferenceError)
            << c.sequence << " tokens";
    }
}

TEST(LatentAttention, gradients_of_all_formats_agree) {
    const Numbers exact = backward<double>(kLarge);
    EXPECT_LE(relative_error(backward<float>(kLarge), exact), kFloatError);
    EXPECT_LE(relative_error(backward<Bf16>(kLarge), exact), kBf16Error);
}

TEST(Rotate, heads_apart_are_turned_as_heads_side_by_side_and_what_lies_between_stays) {
    const Numbers all = random_numbers(6 * 15, 3);
    Numbers apart = all, beside;
    rotate_apart(6, 3, 3, 2, 5, 100.0, apart.data() + 3, 15, false);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % 5 >= 3) {
            beside.push_back(all[i]);
        }
    }
    rotate(6, 3, 3, 2, 100.0, beside.data(), 6, false);
    for (std::size_t i = 0, next = 0; i < all.size(); ++i) {
        EXPECT_EQ(apart[i], i % 5 >= 3 ? beside[next++] : all[i]);
    }
}

}  // namespace
}  // namespace auspex::exec
