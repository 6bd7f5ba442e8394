/// @file Number formats, norms, SwiGLU, embedding and cross entropy against their formulas, gradients against
/// differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "exec/kernels/cross_entropy.hpp"
#include "exec/kernels/elementwise.hpp"
#include "exec/kernels/exponential.hpp"
#include "exec/kernels/norm.hpp"
#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace testing_kernels;

// ---- number formats

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

// ---- norms

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
        if (kind == models::NormKind::kRms) {
            weight = random_numbers(kWidth, 2);
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

TEST(Norm, gradients_equal_differences) {
    for (const models::NormKind kind : {models::NormKind::kRms, models::NormKind::kNonParametric}) {
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
    for (const models::NormKind kind : {models::NormKind::kRms, models::NormKind::kNonParametric}) {
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
        if (kind == models::NormKind::kRms) {
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

// ---- SwiGLU and sums

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

TEST(Add, rounds_once_and_may_replace_its_operands) {
    std::vector<Bf16> a = as<Bf16>({1, 1, -3}), b = as<Bf16>({0x1p-8, 3 * 0x1p-8, 3});
    add(3, a.data(), b.data(), a.data());
    EXPECT_EQ(numbers_of(a), (Numbers{1, 1 + 0x1p-6, 0}));
    add(3, a.data(), b.data(), b.data());
    EXPECT_EQ(numbers_of(b), (Numbers{1, 1 + 0x1p-5, 3}));
}

// ---- embedding

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

// ---- cross entropy

constexpr std::size_t kVocabulary = 44;
const std::vector<std::int32_t> kTargets = {0, 43, 17, 21, 22};

struct CrossEntropy {
    double loss = 0;
    Numbers gradient;
};

/// The vocabulary in `ways` equal parts, their results joined as the ranks would.
template <typename R>
CrossEntropy cross_entropy(const Numbers& logits, std::size_t ways, double scale) {
    const std::size_t width = kVocabulary / ways;
    std::vector<std::vector<R>> columns(ways), parts(ways, std::vector<R>(kRows * 3));
    std::vector<R> joined(kRows * 3, 0);
    for (std::size_t way = 0; way < ways; ++way) {
        for (std::size_t i = 0; i < logits.size(); ++i) {
            if (i % kVocabulary / width == way) {
                columns[way].push_back(static_cast<R>(logits[i]));
            }
        }
        cross_entropy_parts(kRows, width, columns[way].data(), kTargets.data(), static_cast<std::int32_t>(way * width),
                            parts[way].data());
    }
    for (std::size_t row = 0; row < kRows; ++row) {
        R* const to = &joined[row * 3];
        to[0] = -std::numeric_limits<R>::infinity();
        for (const std::vector<R>& part : parts) {
            to[0] = std::max(to[0], part[row * 3]);
        }
        for (const std::vector<R>& part : parts) {
            to[1] += part[row * 3 + 1] * std::exp(part[row * 3] - to[0]);
            to[2] += part[row * 3 + 2];
        }
    }
    CrossEntropy result{cross_entropy_sum(kRows, joined.data()), Numbers(logits.size())};
    for (std::size_t way = 0; way < ways; ++way) {
        cross_entropy_backward(kRows, width, columns[way].data(), kTargets.data(),
                               static_cast<std::int32_t>(way * width), joined.data(), scale);
        for (std::size_t i = 0; i < columns[way].size(); ++i) {
            result.gradient[i / width * kVocabulary + way * width + i % width] = double{columns[way][i]};
        }
    }
    return result;
}

TEST(CrossEntropyKernel, loss_follows_its_formula) {
    const Numbers logits = random_numbers(kRows * kVocabulary, 1);
    double expected = 0;
    for (std::size_t row = 0; row < kRows; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < kVocabulary; ++i) {
            sum += std::exp(logits[row * kVocabulary + i]);
        }
        expected += std::log(sum) - logits[row * kVocabulary + static_cast<std::size_t>(kTargets[row])];
    }
    EXPECT_NEAR(cross_entropy<double>(logits, 1, 1).loss, expected, 1e-12);
    EXPECT_NEAR(cross_entropy<float>(logits, 1, 1).loss, expected, 1e-5);
}

TEST(CrossEntropyKernel, gradient_equals_differences) {
    const Numbers logits = random_numbers(kRows * kVocabulary, 1);
    const auto loss = [](const Numbers& at) { return 0.25 * cross_entropy<double>(at, 1, 1).loss; };
    const Numbers exact = cross_entropy<double>(logits, 1, 0.25).gradient;
    EXPECT_LE(relative_error(exact, differences(loss, logits)), kDifferenceError);
    EXPECT_LE(relative_error(cross_entropy<float>(logits, 1, 0.25).gradient, exact), kFloatError);
}

TEST(CrossEntropyKernel, parts_of_the_vocabulary_make_the_whole) {
    const Numbers logits = random_numbers(kRows * kVocabulary, 1);
    const CrossEntropy whole = cross_entropy<double>(logits, 1, 2);
    for (const std::size_t ways : {2U, 4U}) {
        const CrossEntropy split = cross_entropy<double>(logits, ways, 2);
        EXPECT_NEAR(split.loss, whole.loss, 1e-12);
        EXPECT_LE(relative_error(split.gradient, whole.gradient), 1e-14);
    }
}

TEST(CrossEntropyKernel, large_logits_do_not_overflow) {
    Numbers logits = random_numbers(kRows * kVocabulary, 1);
    for (double& logit : logits) {
        logit = logit * 1000 + 5000;
    }
    const CrossEntropy result = cross_entropy<float>(logits, 2, 1);
    EXPECT_TRUE(std::isfinite(result.loss));
    for (const double value : result.gradient) {
        ASSERT_TRUE(value >= -1 && value <= 1);
    }
}

}  // namespace
}  // namespace auspex::exec
