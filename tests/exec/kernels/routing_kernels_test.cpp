/// @file The router's kernels: choices, losses, and every gradient against central differences.
#include "exec/kernels/routing.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace testing_kernels;

constexpr std::size_t kRows = 6, kExperts = 5, kTopK = 2;

Numbers softmax_of(const Numbers& logits) {
    Numbers probabilities(logits.size());
    router_softmax(logits.size() / kExperts, kExperts, logits.data(), probabilities.data());
    return probabilities;
}
std::vector<std::int64_t> choices_of(const Numbers& probabilities, std::size_t experts, std::size_t top_k) {
    const std::size_t rows = probabilities.size() / experts;
    std::vector<std::int64_t> choices(rows * top_k);
    choose_experts(rows, experts, top_k, probabilities.data(), choices.data());
    return choices;
}

TEST(RouterChoices, are_the_largest_in_falling_order_and_ties_go_to_the_lower_number) {
    using Choices = std::vector<std::int64_t>;
    EXPECT_EQ(choices_of({0.1, 0.4, 0.2, 0.3}, 4, 3), (Choices{1, 3, 2}));
    EXPECT_EQ(choices_of({0.25, 0.25, 0.25, 0.25}, 4, 2), (Choices{0, 1}));
    EXPECT_EQ(choices_of({0.1, 0.3, 0.3, 0.3}, 4, 2), (Choices{1, 2}));
    EXPECT_EQ(choices_of({0.2, 0.1, 0.5, 0.2, 0.6, 0.1, 0.1, 0.2}, 4, 1), (Choices{2, 0}));
}

TEST(RouterChoices, with_a_bias_are_the_largest_sums) {
    const Numbers probabilities{0.1, 0.4, 0.2, 0.3, 0.7, 0.1, 0.1, 0.1};
    const float bias[] = {0.25F, -0.5F, 0, 0};
    std::vector<std::int64_t> choices(4);
    choose_experts(2, 4, 2, probabilities.data(), choices.data(), bias);
    EXPECT_EQ(choices, (std::vector<std::int64_t>{0, 3, 0, 2}));  // 0.35, -0.1, 0.2, 0.3; 0.95, -0.4, 0.1, 0.1
}

TEST(RouterChoices, of_no_number_are_experts_that_exist_and_differ) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const std::int64_t choice : choices_of({nan, 0.5, nan, 0.2}, 4, 4)) {
        EXPECT_TRUE(choice >= 0 && choice < 4);
    }
    const std::vector<std::int64_t> choices = choices_of({nan, nan, nan}, 3, 2);
    EXPECT_NE(choices[0], choices[1]);
}

/// Three of expert 1, of which it takes two: the last of them is dropped, and known.
TEST(RouterChoices, beyond_an_experts_capacity_are_dropped_in_order) {
    std::vector<std::int64_t> choices{1, 0, 2, 1, 1, 2};
    drop_choices(3, 3, 2, 2, choices.data());
    EXPECT_EQ(choices, (std::vector<std::int64_t>{1, 0, 2, 1, ~std::int64_t{1}, 2}));
    EXPECT_EQ(chosen(choices[4]), 1);
    std::vector<std::int64_t> counts(3);
    count_choices(6, choices.data(), counts.data());
    EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 3, 2}));  // what balances are made of
}

TEST(RouterSoftmax, sums_to_one_and_has_its_gradient) {
    const Numbers logits = random_numbers(kRows * kExperts, 1), upstream = random_numbers(kRows * kExperts, 2);
    const Numbers probabilities = softmax_of(logits);
    for (std::size_t row = 0; row < kRows; ++row) {
        double sum = 0;
        for (std::size_t e = 0; e < kExperts; ++e) {
            sum += probabilities[row * kExperts + e];
        }
        EXPECT_NEAR(sum, 1, 1e-14);
    }
    Numbers gradient = upstream;  // in place
    router_softmax_backward(kRows, kExperts, probabilities.data(), gradient.data(), gradient.data());
    const auto loss = [&](const Numbers& x) { return dot(softmax_of(x), upstream); };
    EXPECT_LT(relative_error(gradient, differences(loss, logits)), kDifferenceError);
}

TEST(ChoiceWeights, have_their_gradient_whether_they_sum_to_one_or_not) {
    const Numbers probabilities = softmax_of(random_numbers(kRows * kExperts, 3));
    const std::vector<std::int64_t> choices = choices_of(probabilities, kExperts, kTopK);
    const Numbers upstream = random_numbers(kRows * kTopK, 4);
    for (const bool normalize : {false, true}) {
        const auto weights = [&](const Numbers& p) {
            Numbers result(kRows * kTopK);
            choice_weights(kRows, kExperts, kTopK, normalize, p.data(), choices.data(), result.data());
            return result;
        };
        Numbers gradient(probabilities.size(), 0.0);
        choice_weights_backward(kRows, kExperts, kTopK, normalize, probabilities.data(), choices.data(),
                                upstream.data(), gradient.data());
        const auto loss = [&](const Numbers& p) { return dot(weights(p), upstream); };
        EXPECT_LT(relative_error(gradient, differences(loss, probabilities)), kDifferenceError);
        const Numbers w = weights(probabilities);
        EXPECT_EQ(std::abs(w[0] + w[1] - 1) < 1e-12, normalize);
    }
}

TEST(RouterZLoss, is_the_square_of_the_log_sum_exp_and_has_its_gradient) {
    const Numbers zeros(kExperts, 0.0);
    EXPECT_NEAR(router_z_sum(1, kExperts, zeros.data()), std::pow(std::log(5.0), 2), 1e-14);
    const Numbers logits = random_numbers(kRows * kExperts, 5);
    Numbers gradient(logits.size(), 1.0);
    router_z_backward(kRows, kExperts, logits.data(), 0.7, gradient.data());
    Numbers expected =
        differences([](const Numbers& x) { return 0.7 * router_z_sum(kRows, kExperts, x.data()); }, logits);
    for (double& number : expected) {
        number += 1;  // it is added to what was there
    }
    EXPECT_LT(relative_error(gradient, expected), kDifferenceError);
}

TEST(BalanceLoss, is_top_k_where_choices_are_even_and_n_where_all_go_to_one_expert) {
    const Numbers even(4 * 4, 0.25);
    const std::vector<std::int64_t> in_turn{0, 1, 2, 3, 0, 1, 2, 3};
    EXPECT_NEAR(balance_sum(1, 4, 4, 2, even.data(), in_turn.data()), 2, 1e-14);
    Numbers one(4 * 4, 0.0);
    for (std::size_t row = 0; row < 4; ++row) {
        one[row * 4] = 1;
    }
    const std::vector<std::int64_t> first(4, 0);
    EXPECT_NEAR(balance_sum(1, 4, 4, 1, one.data(), first.data()), 4, 1e-14);
}

TEST(BalanceLoss, counts_each_sequence_by_itself_and_has_its_gradient) {
    const Numbers probabilities = softmax_of(random_numbers(kRows * kExperts, 6));
    const std::vector<std::int64_t> choices = choices_of(probabilities, kExperts, kTopK);
    const auto sum = [&](std::size_t sequences, std::size_t first, const Numbers& p) {
        return balance_sum(sequences, std::size_t{3}, kExperts, kTopK, p.data() + first * kExperts,
                           choices.data() + first * kTopK);
    };
    EXPECT_NEAR(sum(2, 0, probabilities), sum(1, 0, probabilities) + sum(1, 3, probabilities), 1e-14);
    Numbers gradient(probabilities.size(), 0.0);
    balance_backward(2, 3, kExperts, kTopK, choices.data(), 0.3, gradient.data());
    const auto loss = [&](const Numbers& p) { return 0.3 * sum(2, 0, p); };
    EXPECT_LT(relative_error(gradient, differences(loss, probabilities)), kDifferenceError);
}

}  // namespace
}  // namespace auspex::exec
