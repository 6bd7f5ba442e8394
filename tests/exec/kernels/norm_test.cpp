/// @file Norms, of rows and of widths split over ranks, against their formulas and differences.
#include "exec/kernels/norm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace testing_kernels;

constexpr std::size_t kRows = 5, kWidth = 37;
constexpr double kEpsilon = 1e-2;

template <typename V>
Numbers norm(models::NormKind kind, const Numbers& x, const Numbers& weight) {
    const std::vector<V> from = as<V>(x), w = as<V>(weight);
    std::vector<V> y(from.size());
    norm_forward(kind, kRows, kWidth, kEpsilon, from.data(), w.empty() ? nullptr : w.data(), y.data());
    return numbers_of(y);
}

struct Gradients {
    Numbers inputs, weights;
};

/// The weight gradient begins at 1 and is added to.
template <typename V, typename G>
Gradients norm_gradients(models::NormKind kind, const Numbers& x, const Numbers& weight, const Numbers& dy) {
    const std::vector<V> from = as<V>(x), w = as<V>(weight), upstream = as<V>(dy);
    std::vector<V> dx(from.size());
    std::vector<G> dw(w.size(), stored<G>(1.0));
    norm_backward(kind, kRows, kWidth, kEpsilon, from.data(), w.empty() ? nullptr : w.data(), upstream.data(),
                  dx.data(), dw.empty() ? nullptr : dw.data());
    return {numbers_of(dx), numbers_of(dw)};
}

struct NormCase {
    models::NormKind kind;
    Numbers x = random_numbers(kRows * kWidth, 1), weight, dy = random_numbers(kRows * kWidth, 3);
    explicit NormCase(models::NormKind norm_kind) : kind(norm_kind) {
        if (kind != models::NormKind::kNonParametric) {
            weight = random_numbers(kind == models::NormKind::kLayer ? 2 * kWidth : kWidth, 2);
        }
    }
};

TEST(Norm, rms_follows_its_formula) {
    const NormCase c(models::NormKind::kRms);
    const Numbers y = norm<double>(c.kind, c.x, c.weight);
    for (std::size_t row = 0; row < kRows; ++row) {
        double squares = 0;
        for (std::size_t i = 0; i < kWidth; ++i) {
            squares += c.x[row * kWidth + i] * c.x[row * kWidth + i];
        }
        const double root = std::sqrt(squares / double{kWidth} + kEpsilon);
        for (std::size_t i = 0; i < kWidth; ++i) {
            ASSERT_NEAR(y[row * kWidth + i], c.x[row * kWidth + i] / root * c.weight[i], 1e-14);
        }
    }
}

TEST(Norm, non_parametric_follows_its_formula) {
    const NormCase c(models::NormKind::kNonParametric);
    const Numbers y = norm<double>(c.kind, c.x, {});
    for (std::size_t row = 0; row < kRows; ++row) {
        double mean = 0, variance = 0;
        for (std::size_t i = 0; i < kWidth; ++i) {
            mean += c.x[row * kWidth + i] / double{kWidth};
        }
        for (std::size_t i = 0; i < kWidth; ++i) {
            variance += std::pow(c.x[row * kWidth + i] - mean, 2) / double{kWidth};
        }
        for (std::size_t i = 0; i < kWidth; ++i) {
            ASSERT_NEAR(y[row * kWidth + i], (c.x[row * kWidth + i] - mean) / std::sqrt(variance + kEpsilon), 1e-14);
        }
    }
}

TEST(Norm, with_weights_and_biases_is_the_one_without_scaled_and_moved) {
    const NormCase c(models::NormKind::kLayer);
    const Numbers y = norm<double>(c.kind, c.x, c.weight),
                  plain = norm<double>(models::NormKind::kNonParametric, c.x, {});
    for (std::size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(y[i], plain[i] * c.weight[i % kWidth] + c.weight[kWidth + i % kWidth], 1e-14);
    }
}

TEST(Norm, gradients_equal_differences) {
    for (const models::NormKind kind :
         {models::NormKind::kRms, models::NormKind::kNonParametric, models::NormKind::kLayer}) {
        const NormCase c(kind);
        const Gradients found = norm_gradients<double, double>(kind, c.x, c.weight, c.dy);
        const auto of_x = [&](const Numbers& x) { return dot(norm<double>(kind, x, c.weight), c.dy); };
        EXPECT_LE(relative_error(found.inputs, differences(of_x, c.x)), kDifferenceError);
        Numbers expected =
            differences([&](const Numbers& weight) { return dot(norm<double>(kind, c.x, weight), c.dy); }, c.weight);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_NEAR(found.weights[i], 1 + expected[i], 1e-8) << "added to what was there";
        }
    }
}

TEST(Norm, all_formats_agree) {
    for (const models::NormKind kind :
         {models::NormKind::kRms, models::NormKind::kNonParametric, models::NormKind::kLayer}) {
        const NormCase c(kind);
        const Numbers y = norm<double>(kind, c.x, c.weight);
        EXPECT_LE(relative_error(norm<float>(kind, c.x, c.weight), y), 1e-6);
        EXPECT_LE(relative_error(norm<Bf16>(kind, c.x, c.weight), y), 3e-3);
        const Gradients exact = norm_gradients<double, double>(kind, c.x, c.weight, c.dy);
        const Gradients single = norm_gradients<float, float>(kind, c.x, c.weight, c.dy);
        const Gradients half = norm_gradients<Bf16, Bf16>(kind, c.x, c.weight, c.dy);
        const Gradients mixed = norm_gradients<Bf16, float>(kind, c.x, c.weight, c.dy);
        EXPECT_LE(relative_error(single.inputs, exact.inputs), kFloatError);
        EXPECT_LE(relative_error(half.inputs, exact.inputs), kBf16Error);
        EXPECT_EQ(half.inputs, mixed.inputs);
        if (kind != models::NormKind::kNonParametric) {
            EXPECT_LE(relative_error(single.weights, exact.weights), kFloatError);
            EXPECT_LE(relative_error(half.weights, exact.weights), kBf16Error);
            EXPECT_LE(relative_error(mixed.weights, exact.weights), kFloatError) << "bf16 in, summed in float";
        }
    }
}

/// Keys behind queries in rows of 3 kWidth; the width is split over two ranks, columns [0, 20) and [20, 37).
constexpr std::size_t kLd = 3 * kWidth, kSplit = 20;

template <typename V>
Numbers qk_norm(const Numbers& x, const Numbers& weight) {
    using R = RealOf<V>;
    const std::vector<V> from = as<V>(x), w = as<V>(weight);
    std::vector<V> y(kRows * kWidth);
    std::vector<R> left(kRows * 2), right(kRows * 2);
    square_sums(kRows, kSplit, from.data(), kLd, left.data(), 1);
    square_sums(kRows, kWidth - kSplit, from.data() + kSplit, kLd, right.data(), 1);
    for (std::size_t i = 0; i < left.size(); ++i) {
        left[i] += right[i];
    }
    qk_norm_forward(kRows, kSplit, kWidth, kEpsilon, from.data(), kLd, w.data(), left.data(), 1, y.data(), kWidth);
    qk_norm_forward(kRows, kWidth - kSplit, kWidth, kEpsilon, from.data() + kSplit, kLd, w.data() + kSplit, left.data(),
                    1, y.data() + kSplit, kWidth);
    return numbers_of(y);
}

template <typename V, typename G>
Gradients qk_norm_gradients(const Numbers& x, const Numbers& weight, const Numbers& dy) {
    using R = RealOf<V>;
    const std::vector<V> from = as<V>(x), w = as<V>(weight);
    std::vector<V> gradient = as<V>(dy);
    std::vector<G> dw(kWidth, stored<G>(1.0));
    std::vector<R> sums(kRows * 2), left(kRows * 2), right(kRows * 2);
    const std::size_t rest = kWidth - kSplit;
    square_sums(kRows, kWidth, from.data(), kLd, sums.data(), 0);
    qk_norm_products(kRows, kSplit, from.data(), kLd, w.data(), gradient.data(), kWidth, left.data(), 0);
    qk_norm_products(kRows, rest, from.data() + kSplit, kLd, w.data() + kSplit, gradient.data() + kSplit, kWidth,
                     right.data(), 0);
    for (std::size_t i = 0; i < left.size(); ++i) {
        left[i] += right[i];
    }
    qk_norm_backward(kRows, kSplit, kWidth, kEpsilon, from.data(), kLd, w.data(), sums.data(), left.data(), 0,
                     gradient.data(), kWidth, dw.data());
    qk_norm_backward(kRows, rest, kWidth, kEpsilon, from.data() + kSplit, kLd, w.data() + kSplit, sums.data(),
                     left.data(), 0, gradient.data() + kSplit, kWidth, dw.data() + kSplit);
    return {numbers_of(gradient), numbers_of(dw)};
}

/// Rows of kWidth as the first columns of rows of kLd.
Numbers spread(const Numbers& x) {
    Numbers wide(kRows * kLd, 100);
    for (std::size_t row = 0; row < kRows; ++row) {
        std::copy_n(&x[row * kWidth], kWidth, &wide[row * kLd]);
    }
    return wide;
}

TEST(QkNorm, is_the_norm_of_the_whole_width_over_ranks) {
    const NormCase c(models::NormKind::kRms);
    const Gradients expected = norm_gradients<double, double>(c.kind, c.x, c.weight, c.dy);
    const Gradients found = qk_norm_gradients<double, double>(spread(c.x), c.weight, c.dy);
    EXPECT_LE(relative_error(qk_norm<double>(spread(c.x), c.weight), norm<double>(c.kind, c.x, c.weight)), 1e-14);
    EXPECT_LE(relative_error(found.inputs, expected.inputs), 1e-14);
    EXPECT_LE(relative_error(found.weights, expected.weights), 1e-14);
    EXPECT_LE(relative_error(qk_norm<float>(spread(c.x), c.weight), norm<double>(c.kind, c.x, c.weight)), 1e-6);
    EXPECT_LE(relative_error(qk_norm_gradients<float, float>(spread(c.x), c.weight, c.dy).inputs, expected.inputs),
              kFloatError);
    const Gradients half = qk_norm_gradients<Bf16, Bf16>(spread(c.x), c.weight, c.dy);
    EXPECT_LE(relative_error(half.inputs, expected.inputs), kBf16Error);
    EXPECT_LE(relative_error(half.weights, expected.weights), kBf16Error);
}

}  // namespace
}  // namespace auspex::exec
