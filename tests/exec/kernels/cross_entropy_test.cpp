/// @file Cross entropy, whole and in parts of the vocabulary, against its formula and differences.
#include "exec/kernels/cross_entropy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace testing_kernels;

constexpr std::size_t kRows = 5;

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

/// On two ranks that split the vocabulary: parts join to a loss of 0.
TEST(CrossEntropy, of_a_row_without_a_target_is_nothing) {
    constexpr std::size_t kOwn = 5;
    const std::int32_t targets[] = {kNoToken};
    double parts[2][3];
    for (const std::int32_t rank : {0, 1}) {
        Numbers logits = random_numbers(kOwn, 31 + static_cast<std::uint64_t>(rank));
        cross_entropy_parts(1, kOwn, logits.data(), targets, rank * static_cast<std::int32_t>(kOwn), parts[rank]);
        cross_entropy_backward(1, kOwn, logits.data(), targets, rank * static_cast<std::int32_t>(kOwn), parts[rank],
                               2.0);
        EXPECT_EQ(logits, Numbers(kOwn, 0.0));
    }
    EXPECT_EQ(cross_entropy_sum(1, parts[0]), 0);
    EXPECT_EQ(parts[1][1], 0);
    EXPECT_EQ(parts[1][0], parts[0][0]);
}

}  // namespace
}  // namespace auspex::exec
