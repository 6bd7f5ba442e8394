/// @file Matrix products against three loops.
#include "exec/kernels/gemm.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace testing_kernels;

struct Product {
    std::size_t m, n, k, gap;  ///< rows are `gap` elements longer than they need be
    bool ta, tb, accumulate;

    [[nodiscard]] std::size_t lda() const { return (ta ? m : k) + gap; }
    [[nodiscard]] std::size_t ldb() const { return (tb ? k : n) + gap; }
    [[nodiscard]] std::size_t ldc() const { return n + gap; }
    [[nodiscard]] Numbers a() const { return random_numbers((ta ? k : m) * lda(), 1); }
    [[nodiscard]] Numbers b() const { return random_numbers((tb ? n : k) * ldb(), 2); }
    [[nodiscard]] Numbers c() const { return random_numbers(m * ldc(), 3); }
};

Numbers three_loops(const Product& p) {
    const Numbers a = p.a(), b = p.b();
    Numbers c = p.c();
    for (std::size_t i = 0; i < p.m; ++i) {
        for (std::size_t j = 0; j < p.n; ++j) {
            double sum = p.accumulate ? c[i * p.ldc() + j] : 0;
            for (std::size_t l = 0; l < p.k; ++l) {
                sum += a[p.ta ? l * p.lda() + i : i * p.lda() + l] * b[p.tb ? j * p.ldb() + l : l * p.ldb() + j];
            }
            c[i * p.ldc() + j] = sum;
        }
    }
    return c;
}

template <typename A, typename B, typename C>
std::vector<C> by_gemm(const Product& p, std::vector<C> c) {
    const std::vector<A> a = as<A>(p.a());
    const std::vector<B> b = as<B>(p.b());
    const auto transpose = [](bool is) { return is ? Transpose::kYes : Transpose::kNo; };
    gemm(transpose(p.ta), transpose(p.tb), p.m, p.n, p.k, a.data(), p.lda(), b.data(), p.ldb(), c.data(), p.ldc(),
         p.accumulate);
    return c;
}

template <typename C>
double tolerance() {
    return sizeof(C) == 2 ? 5e-3 : sizeof(C) == 4 ? 2e-6 : 1e-14;
}

template <typename A, typename B, typename C>
void expect_three_loops(const Product& p) {
    const Numbers expected = three_loops(p), found = numbers_of(by_gemm<A, B, C>(p, as<C>(p.c())));
    EXPECT_LE(relative_error(found, expected), tolerance<C>())
        << p.m << " x " << p.n << " x " << p.k << ", gap " << p.gap << ", transposes " << p.ta << p.tb
        << ", accumulate " << p.accumulate << ", bytes " << sizeof(A) << sizeof(B) << sizeof(C);
    for (std::size_t i = 0; i < p.m; ++i) {
        for (std::size_t j = p.n; j < p.ldc(); ++j) {
            ASSERT_EQ(found[i * p.ldc() + j], expected[i * p.ldc() + j]) << "written behind a row";
        }
    }
}

void expect_all_mixes(const Product& p) {
    expect_three_loops<double, double, double>(p);
    expect_three_loops<float, float, float>(p);
    expect_three_loops<float, float, Bf16>(p);
    expect_three_loops<float, Bf16, float>(p);
    expect_three_loops<float, Bf16, Bf16>(p);
    expect_three_loops<Bf16, float, float>(p);
    expect_three_loops<Bf16, float, Bf16>(p);
    expect_three_loops<Bf16, Bf16, float>(p);
    expect_three_loops<Bf16, Bf16, Bf16>(p);
}

TEST(Gemm, equals_three_loops_for_all_transposes_and_types) {
    const std::size_t sizes[][3] = {{1, 1, 1},   {1, 7, 3},    {8, 8, 8},    {5, 3, 2},     {2, 1, 8},     {17, 33, 65},
                                    {64, 1, 64}, {1, 96, 128}, {64, 64, 64}, {100, 75, 31}, {128, 96, 300}};
    for (const auto& [m, n, k] : sizes) {
        for (unsigned bits = 0; bits < 16; ++bits) {
            expect_all_mixes(
                {m, n, k, (bits & 8U) != 0 ? 5U : 0U, (bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0});
        }
    }
}

TEST(Gemm, an_empty_product_is_zero_or_what_was_there) {
    expect_all_mixes({0, 3, 2, 1, false, false, false});
    expect_all_mixes({3, 0, 2, 1, false, true, true});
    const Product cleared{3, 4, 0, 2, false, false, false}, kept{3, 4, 0, 2, false, false, true};
    expect_all_mixes(cleared);
    expect_all_mixes(kept);
}

TEST(Gemm, what_was_there_does_not_matter_without_accumulate) {
    for (const std::size_t size : {3U, 64U, 130U}) {
        const Product p{size, size, size, 0, false, true, false};
        const std::vector<float> nan(size * size, std::numeric_limits<float>::quiet_NaN());
        EXPECT_LE(relative_error(numbers_of(by_gemm<float, float, float>(p, nan)), three_loops(p)), 2e-6);
    }
}

TEST(Gemm, bf16_result_is_rounded_once) {
    // 1 + 2^-9 * 2 sums to a bfloat16 that stepwise rounding would never reach.
    const std::vector<Bf16> a = as<Bf16>({1, 0x1p-9, 0x1p-9, 0x1p-9, 0x1p-9}), ones(5, stored<Bf16>(1.0));
    std::vector<Bf16> c(1);
    gemm(Transpose::kNo, Transpose::kNo, 1, 1, 5, a.data(), 5, ones.data(), 1, c.data(), 1, false);
    EXPECT_EQ(real(c[0]), 1 + 0x1p-7F);
    gemm(Transpose::kNo, Transpose::kNo, 1, 1, 5, a.data(), 5, ones.data(), 1, c.data(), 1, true);
    EXPECT_EQ(real(c[0]), 2 + 0x1p-6F) << "2 + 2^-7 + 2^-7";
}

TEST(Gemm, linear_layers_are_its_three_products) {
    const std::size_t rows = 5, out = 3, in = 4;
    const Numbers x = random_numbers(rows * in, 1), w = random_numbers(out * in, 2), dy = random_numbers(rows * out, 3);
    const auto loss = [&](const Numbers& inputs, const Numbers& weights) {
        Numbers y(rows * out);
        linear_forward(rows, out, in, inputs.data(), weights.data(), y.data());
        return dot(y, dy);
    };
    Numbers dx(rows * in), dw(out * in);
    linear_input_gradient(rows, out, in, dy.data(), w.data(), dx.data());
    linear_weight_gradient(rows, out, in, dy.data(), x.data(), dw.data());
    EXPECT_LE(relative_error(dx, differences([&](const Numbers& at) { return loss(at, w); }, x)), kDifferenceError);
    EXPECT_LE(relative_error(dw, differences([&](const Numbers& at) { return loss(x, at); }, w)), kDifferenceError);
}

TEST(Gemm, same_bits_from_every_thread) {
    const Product p{96, 200, 130, 0, true, false, false};
    const auto bits = [&p] { return numbers_of(by_gemm<float, Bf16, float>(p, as<float>(p.c()))); };
    const Numbers expected = bits();
    std::vector<Numbers> found(4);
    {
        std::vector<std::jthread> threads;
        for (Numbers& result : found) {
            threads.emplace_back([&result, &bits] {
                for (int i = 0; i < 20; ++i) {
                    result = bits();
                }
            });
        }
    }
    for (const Numbers& result : found) {
        EXPECT_EQ(result, expected);
    }
}

TEST(Gemm, scratch_is_of_the_thread) {
    std::size_t before = 1, after = 0;
    std::jthread([&] {
        before = gemm_scratch_bytes();
        const Product p{8, 16, 32, 0, false, false, false};
        (void)by_gemm<Bf16, Bf16, float>(p, as<float>(p.c()));
        after = gemm_scratch_bytes();
    }).join();
    EXPECT_EQ(before, 0U);
    EXPECT_EQ(after, 4U * (8 * 32 + 32 * 16)) << "both operands as floats";
}

}  // namespace
}  // namespace auspex::exec
