/// @file Attention of some queries to some keys: parts that add up to the whole, and their gradients.
#include <gtest/gtest.h>

#include <algorithm>

#include "exec/kernels/attention.hpp"
#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace testing_kernels;

constexpr std::size_t kSequences = 2, kSequence = 96, kHeads = 4, kKvHeads = 2, kWidth = 6;
constexpr std::size_t kRow = (kHeads + 2 * kKvHeads) * kWidth, kOut = kHeads * kWidth;
constexpr std::size_t kTokens = kSequences * kSequence;
/// Tokens are in the order in which these parts of 24 have them.
constexpr std::size_t kParts = 4, kPart = kSequence / kParts;

AttentionSizes whole_sizes() { return {kSequences, kSequence, kHeads, kKvHeads, kWidth, kRow, kRow, kRow, kRow}; }

/// Row i of a part is position 4 i + part: every part has early and late tokens.
std::uint32_t row_of(std::size_t position) {
    return static_cast<std::uint32_t>(position % kParts * kPart + position / kParts);
}

/// Keys that a query sees at most where there is a window.
constexpr std::size_t kWindow = 7;

/// All queries to the keys of some parts.
AttendedRows attended(const std::vector<std::size_t>& parts) {
    AttendedRows rows;
    std::vector<std::uint32_t> keys_before(1, 0);  // by position
    rows.next_queries = rows.next_keys = kSequence;
    for (std::size_t position = 0; position < kSequence; ++position) {
        if (std::ranges::find(parts, position % kParts) != parts.end()) {
            rows.keys.push_back(row_of(position));
        }
        keys_before.push_back(static_cast<std::uint32_t>(rows.keys.size()));
        rows.queries.push_back(row_of(position));
        rows.visible.push_back(keys_before.back());
        rows.passed.push_back(keys_before[std::max(position + 1, kWindow) - kWindow]);
    }
    return rows;
}

/// Rows of whole sequences in the order of positions, dealt out.
template <typename V>
std::vector<V> dealt(const std::vector<V>& in_order, std::size_t width) {
    std::vector<V> rows(in_order.size());
    for (std::size_t token = 0; token < kTokens; ++token) {
        const std::size_t to = token / kSequence * kSequence + row_of(token % kSequence);
        std::copy_n(in_order.begin() + static_cast<std::ptrdiff_t>(token * width), width,
                    rows.begin() + static_cast<std::ptrdiff_t>(to * width));
    }
    return rows;
}

template <typename V>
struct Attended {
    std::vector<V> output = std::vector<V>(kTokens * kOut);
    std::vector<RealOf<V>> lse = std::vector<RealOf<V>>(kTokens * kHeads);
};

template <typename V>
Attended<V> attend(const std::vector<V>& qkv, const AttendedRows* rows, std::size_t window = 0) {
    Attended<V> result;
    AttentionSizes sizes = whole_sizes();
    sizes.rows = rows, sizes.window = window;
    attention_forward(sizes, qkv.data(), qkv.data() + kOut, qkv.data() + kOut + kKvHeads * kWidth, result.output.data(),
                      result.lse.data());
    return result;
}

/// Part after part, each merged with those before.
template <typename V>
Attended<V> attend_in_parts(const std::vector<V>& qkv, const std::vector<AttendedRows>& parts, std::size_t window = 0) {
    Attended<V> sum = attend(qkv, &parts.front(), window);
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const Attended<V> more = attend(qkv, &parts[i], window);
        merge_attention(kTokens * kHeads, kWidth, more.output.data(), more.lse.data(), sum.output.data(),
                        sum.lse.data());
    }
    return sum;
}

template <typename V>
Numbers gradient_in_parts(const std::vector<V>& qkv, const std::vector<V>& d_output,
                          const std::vector<AttendedRows>& parts, std::size_t window = 0) {
    const Attended<V> all = attend_in_parts(qkv, parts, window);
    std::vector<V> d_qkv(qkv.size(), stored<V>(0.0));
    std::vector<RealOf<V>> delta(kTokens * kHeads);
    for (const AttendedRows& part : parts) {
        AttentionSizes sizes = whole_sizes();
        sizes.rows = &part, sizes.window = window, sizes.adds = &part != &parts.front();
        const std::size_t k = kOut, v = kOut + kKvHeads * kWidth;
        attention_backward(sizes, qkv.data(), qkv.data() + k, qkv.data() + v, all.output.data(), all.lse.data(),
                           d_output.data(), delta.data(), d_qkv.data(), d_qkv.data() + k, d_qkv.data() + v);
    }
    return numbers_of(d_qkv);
}

Numbers qkv() { return random_numbers(kTokens * kRow, 14); }
Numbers d_output() { return random_numbers(kTokens * kOut, 15); }
std::vector<AttendedRows> own_then_others() { return {attended({2}), attended({0}), attended({1, 3})}; }

TEST(PartialAttention, rows_in_another_order_give_the_same) {
    const AttendedRows all = attended({0, 1, 2, 3});
    const Attended<double> in_order = attend<double>(qkv(), nullptr), found = attend(dealt(qkv(), kRow), &all);
    EXPECT_LE(relative_error(found.output, dealt(in_order.output, kOut)), 1e-14);
    EXPECT_LE(relative_error(found.lse, dealt(in_order.lse, kHeads)), 1e-14);
}

template <typename V>
void expect_parts_are_the_whole(double tolerance, std::size_t window) {
    // Queries that see none of a part's keys are among them: position 0 is in part 0 alone.
    std::vector<AttendedRows> parts = own_then_others();
    std::swap(parts[0], parts[1]);
    const Attended<V> found = attend_in_parts(dealt(as<V>(qkv()), kRow), parts, window);
    const Attended<double> whole = attend<double>(qkv(), nullptr, window);
    EXPECT_LE(relative_error(numbers_of(found.output), dealt(whole.output, kOut)), tolerance);
    const std::vector<double> lse(found.lse.begin(), found.lse.end());
    EXPECT_LE(relative_error(lse, dealt(whole.lse, kHeads)), 1e-5);
}

TEST(PartialAttention, parts_merged_are_attention_to_all_keys) {
    for (const std::size_t window : {std::size_t{0}, kWindow}) {
        expect_parts_are_the_whole<double>(1e-14, window);
        expect_parts_are_the_whole<float>(2e-6, window);
        expect_parts_are_the_whole<Bf16>(2e-2, window);
    }
}

TEST(PartialAttention, a_query_that_sees_nothing_has_no_output) {
    const AttendedRows later = attended({3});
    const Attended<double> found = attend(dealt(qkv(), kRow), &later);
    for (const std::size_t position : {0U, 1U, 2U}) {
        const std::size_t row = row_of(position);
        EXPECT_EQ(found.lse[row * kHeads], -std::numeric_limits<double>::infinity());
        EXPECT_TRUE(std::all_of(&found.output[row * kOut], &found.output[row * kOut] + kOut,
                                [](double value) { return value == 0; }));
    }
    EXPECT_TRUE(std::isfinite(found.lse[std::size_t{row_of(3)} * kHeads]));
}

TEST(PartialAttention, gradients_of_parts_add_up_to_differences) {
    std::vector<AttendedRows> parts = own_then_others();
    std::swap(parts[0], parts[1]);
    const Numbers x = dealt(qkv(), kRow), d_out = d_output();
    constexpr std::size_t kApart = 11;  // of each column of rows of 48 some
    for (const std::size_t window : {std::size_t{0}, kWindow}) {
        const auto loss = [&](const Numbers& at) { return dot(attend_in_parts(at, parts, window).output, d_out); };
        EXPECT_LE(
            relative_error(every(kApart, gradient_in_parts(x, d_out, parts, window)), differences(loss, x, kApart)),
            kDifferenceError);
    }
}

TEST(PartialAttention, gradients_of_all_formats_agree) {
    std::vector<AttendedRows> parts = own_then_others();
    std::swap(parts[0], parts[1]);
    const Numbers x = dealt(qkv(), kRow);
    const Numbers exact = gradient_in_parts(x, d_output(), parts);
    EXPECT_LE(relative_error(gradient_in_parts(as<float>(x), as<float>(d_output()), parts), exact), kFloatError);
    EXPECT_LE(relative_error(gradient_in_parts(as<Bf16>(x), as<Bf16>(d_output()), parts), exact), 2 * kBf16Error);
}

/// Latents: the same with keys that heads share.
constexpr std::size_t kPlain = 4, kRotated = 2, kValue = 3;
constexpr std::size_t kLatentOut = kHeads * kValue, kQuery = kHeads * (kPlain + kRotated),
                      kKeyValue = kHeads * (kPlain + kValue);

LatentAttentionSizes latent_sizes(const AttendedRows* rows, bool adds) {
    LatentAttentionSizes sizes{kSequences, kSequence, kHeads, kPlain, kRotated, kValue, kRotated};
    sizes.rows = rows, sizes.adds = adds;
    return sizes;
}

TEST(PartialAttention, latents_in_parts_are_the_whole_and_so_are_gradients) {
    const Numbers q = random_numbers(kTokens * kQuery, 1), key_value = random_numbers(kTokens * kKeyValue, 2),
                  shared = random_numbers(kTokens * kRotated, 3), d_out = random_numbers(kTokens * kLatentOut, 4);
    const auto forward = [&](const AttendedRows* rows, Numbers& output, Numbers& lse) {
        output.resize(kTokens * kLatentOut), lse.resize(kTokens * kHeads);
        latent_attention_forward(latent_sizes(rows, false), q.data(), key_value.data(), shared.data(), output.data(),
                                 lse.data());
    };
    struct Gradients {
        Numbers q = Numbers(kTokens * kQuery), key_value = Numbers(kTokens * kKeyValue),
                shared = Numbers(kTokens * kRotated);
    };
    const auto backward = [&](const std::vector<AttendedRows>& parts, const Numbers& output, const Numbers& lse) {
        Gradients g;
        Numbers delta(kTokens * kHeads);
        for (const AttendedRows& part : parts) {
            latent_attention_backward(latent_sizes(&part, &part != &parts.front()), q.data(), key_value.data(),
                                      shared.data(), output.data(), lse.data(), d_out.data(), delta.data(), g.q.data(),
                                      g.key_value.data(), g.shared.data());
        }
        return g;
    };
    const std::vector<AttendedRows> whole{attended({0, 1, 2, 3})}, parts{attended({0, 2}), attended({1, 3})};
    Numbers output, lse, sum, sum_lse, more, more_lse;
    forward(&whole.front(), output, lse);
    forward(&parts[0], sum, sum_lse);
    forward(&parts[1], more, more_lse);
    merge_attention(kTokens * kHeads, kValue, more.data(), more_lse.data(), sum.data(), sum_lse.data());
    EXPECT_LE(relative_error(sum, output), 1e-14);
    const Gradients expected = backward(whole, output, lse);
    // Where a part leaves keys' gradients alone, they begin at 0.
    const Gradients found = backward(parts, sum, sum_lse);
    EXPECT_LE(relative_error(found.q, expected.q), 1e-13);
    EXPECT_LE(relative_error(found.key_value, expected.key_value), 1e-13);
    EXPECT_LE(relative_error(found.shared, expected.shared), 1e-13);
}

}  // namespace
}  // namespace auspex::exec
