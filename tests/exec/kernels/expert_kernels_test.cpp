/// @file Permutation and products of experts: the loop, the grouped and the fused kernels against a plain sum over
/// choices, against each other, and against central differences.
#include "exec/kernels/experts.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "kernel_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace testing_kernels;

constexpr models::ExpertKernels kWays[] = {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped,
                                           models::ExpertKernels::kFused};

struct Sizes {
    std::size_t tokens = 9, top_k = 2, all_experts = 6, first = 1, experts = 4, hidden = 5, inner = 3;
    [[nodiscard]] std::size_t slots() const { return tokens * top_k; }
    std::size_t gates = 2, bias_begin = 0, bias_width = 0;
    [[nodiscard]] std::size_t width() const { return gates * inner; }
    /// With a gap, to see that it is kept.
    [[nodiscard]] std::size_t stride() const { return (width() + inner) * hidden + width() + bias_width + 2; }
};

/// Different experts for each token; expert 2 is never chosen.
std::vector<std::int64_t> random_choices(const Sizes& s) {
    Rng rng(5);
    std::vector<std::int64_t> choices;
    while (choices.size() < s.slots()) {
        const auto expert = static_cast<std::int64_t>(rng.below(s.all_experts));
        const bool again = choices.size() % s.top_k != 0 && choices.back() == expert;
        if (!again && expert != 2) {
            choices.push_back(expert);
        }
    }
    return choices;
}

/// What one pass over the experts [first, first + experts) reads and makes, V with Real R and gradients V.
template <typename V, typename R>
struct Pass {
    Sizes s;
    std::vector<std::int64_t> choices, offsets;
    std::vector<std::int32_t> row_slots;
    std::vector<V> permuted, gate_up, product, outputs, y;
    std::vector<V> d_rows, d_product, d_gate_up, d_permuted, dx, gradients;
    std::vector<R> d_weights;

    Pass(const Sizes& sizes, models::ExpertKernels kernels, const Numbers& x, const Numbers& parameters,
         const Numbers& weights, const Numbers& dy)
        : s(sizes), choices(random_choices(sizes)), offsets(s.experts + 1) {
        count_choices(s.slots(), choices.data(), static_cast<std::int64_t>(s.first), s.experts, offsets.data());
        row_slots.resize(rows());
        index(kernels);
        forward(kernels, as<V>(x), as<V>(parameters), as<R>(weights));
        backward(kernels, as<V>(parameters), as<R>(weights), as<V>(dy));
    }
    [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(offsets[s.experts]); }
    [[nodiscard]] Assignment assignment() const {
        return {s.tokens,       s.top_k,         static_cast<std::int64_t>(s.first), s.experts, choices.data(),
                offsets.data(), row_slots.data()};
    }
    [[nodiscard]] ExpertShape shape() const {
        return {s.experts, s.hidden, s.inner, s.stride(), offsets.data(), s.gates, s.bias_begin, s.bias_width};
    }

    void index(models::ExpertKernels kernels) {
        if (kernels != models::ExpertKernels::kLoop) {
            return sort_slots(s.slots(), choices.data(), static_cast<std::int64_t>(s.first), s.experts, offsets.data(),
                              row_slots.data());
        }
        std::vector<std::int64_t> mask(s.slots() * s.all_experts);
        one_hot_mask(s.tokens, s.top_k, s.all_experts, choices.data(), mask.data());
        for (std::size_t e = 0; e < s.experts; ++e) {
            const std::size_t found =
                find_in_mask(s.tokens, s.top_k, s.all_experts, s.first + e, mask.data(), row_slots.data() + offsets[e]);
            EXPECT_EQ(static_cast<std::int64_t>(found), offsets[e + 1] - offsets[e]);
        }
    }
    void forward(models::ExpertKernels kernels, const std::vector<V>& x, const std::vector<V>& parameters,
                 const std::vector<R>& weights) {
        permuted.resize(rows() * s.hidden), outputs.resize(rows() * s.hidden);
        gate_up.resize(rows() * s.width()), product.resize(rows() * s.inner), y.resize(s.tokens * s.hidden);
        expert_forward<V>(kernels, shape(), parameters.data(),
                          {x.data(), assignment().tokens_of_rows(), permuted.data(), gate_up.data(), product.data(),
                           outputs.data(), nullptr});
        sum_rows<V, R>(kernels, assignment(), s.hidden, outputs.data(), weights.data(), y.data());
    }
    void backward(models::ExpertKernels kernels, const std::vector<V>& parameters, const std::vector<R>& weights,
                  const std::vector<V>& dy) {
        d_rows.resize(rows() * s.hidden), d_permuted.resize(rows() * s.hidden), d_product.resize(rows() * s.inner);
        d_gate_up.resize(rows() * s.width()), dx.resize(y.size()), d_weights.resize(s.slots());
        gradients.resize(parameters.size());
        const Assignment of = assignment();
        ExpertBackward<V> back;
        back.gate_up = gate_up.data(), back.d_rows = d_rows.data(), back.d_product = d_product.data();
        back.d_gate_up = d_gate_up.data(), back.d_permuted = d_permuted.data();
        if (kernels == models::ExpertKernels::kLoop) {
            std::vector<V> one_expert(dx.size());
            loop_backward<V, R>(
                shape(), of, parameters.data(), back,
                {dy.data(), outputs.data(), weights.data(), d_weights.data(), one_expert.data(), dx.data()});
        } else {
            sum_rows_backward<V, R>(kernels, of, of.rows(), s.hidden, dy.data(), outputs.data(), weights.data(),
                                    d_rows.data(), d_weights.data());
            back.assignment = &of, back.d_tokens = dx.data();
            expert_backward<V>(kernels, shape(), parameters.data(), back);
        }
        expert_weight_gradients<V, V>(kernels, shape(), permuted.data(), product.data(), d_rows.data(),
                                      d_gate_up.data(), gradients.data());
    }
};

struct Inputs {
    Sizes s;
    Numbers x, parameters, weights, dy;
    explicit Inputs(const Sizes& sizes)
        : s(sizes),
          x(random_numbers(s.tokens * s.hidden, 1)),
          parameters(random_numbers(s.experts * s.stride(), 2)),
          weights(random_numbers(s.slots(), 3)),
          dy(random_numbers(s.tokens * s.hidden, 4)) {}
    template <typename V, typename R>
    [[nodiscard]] Pass<V, R> run(models::ExpertKernels kernels) const {
        return {s, kernels, x, parameters, weights, dy};
    }
};

/// Without biases, and of experts with biases where the rank adds a part of those of the last layer.
Sizes plain_sizes(std::size_t gates, bool biased) {
    Sizes s;
    s.gates = gates;
    s.bias_begin = biased ? 1 : 0, s.bias_width = biased ? 3 : 0;
    return s;
}
std::vector<Sizes> all_sizes() {
    return {plain_sizes(2, false), plain_sizes(2, true), plain_sizes(1, false), plain_sizes(1, true)};
}

double activated(const Sizes& s, const std::vector<double>& made, std::size_t i) {
    const double x = made[i];
    if (s.gates == 2) {
        return x / (1 + std::exp(-x)) * made[s.inner + i];
    }
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

/// y[token] = sum over its choices on this rank of weight * (W_down (silu(W_gate x + b) * (W_up x + b)) + b), or with
/// gelu(W_up x + b) in the middle.
Numbers plain_sum(const Inputs& in, const std::vector<std::int64_t>& choices) {
    const Sizes& s = in.s;
    Numbers y(s.tokens * s.hidden, 0.0);
    for (std::size_t slot = 0; slot < s.slots(); ++slot) {
        const std::int64_t expert = choices[slot] - static_cast<std::int64_t>(s.first);
        if (expert < 0 || expert >= static_cast<std::int64_t>(s.experts)) {
            continue;
        }
        const double* w = in.parameters.data() + static_cast<std::size_t>(expert) * s.stride();
        const double* x = in.x.data() + slot / s.top_k * s.hidden;
        const double *const down = w + s.width() * s.hidden, *const biases = down + s.inner * s.hidden;
        std::vector<double> made(s.width());
        for (std::size_t i = 0; i < s.width(); ++i) {
            made[i] = s.bias_width > 0 ? biases[i] : 0;
            for (std::size_t c = 0; c < s.hidden; ++c) {
                made[i] += w[i * s.hidden + c] * x[c];
            }
        }
        double* const sum = y.data() + slot / s.top_k * s.hidden;
        for (std::size_t i = 0; i < s.bias_width; ++i) {
            sum[s.bias_begin + i] += in.weights[slot] * biases[s.width() + i];
        }
        for (std::size_t i = 0; i < s.inner; ++i) {
            for (std::size_t c = 0; c < s.hidden; ++c) {
                sum[c] += in.weights[slot] * down[c * s.inner + i] * activated(s, made, i);
            }
        }
    }
    return y;
}

TEST(RowsOfExperts, are_sorted_by_expert_then_slot_whichever_way_they_are_found) {
    const Inputs in{Sizes{}};
    const auto sorted = in.run<double, double>(models::ExpertKernels::kFused);
    std::vector<std::int32_t> expected;
    for (std::size_t e = 0; e < in.s.experts; ++e) {
        for (std::size_t slot = 0; slot < in.s.slots(); ++slot) {
            if (sorted.choices[slot] == static_cast<std::int64_t>(in.s.first + e)) {
                expected.push_back(static_cast<std::int32_t>(slot));
            }
        }
    }
    EXPECT_EQ(sorted.row_slots, expected);
    EXPECT_LT(expected.size(), in.s.slots());  // some experts are elsewhere
    const auto searched = in.run<double, double>(models::ExpertKernels::kLoop);
    EXPECT_EQ(searched.row_slots, expected);
}

TEST(Experts, add_up_what_each_choice_contributes) {
    for (const Sizes& sizes : all_sizes()) {
        const Inputs in{sizes};
        for (const models::ExpertKernels kernels : kWays) {
            const auto pass = in.run<double, double>(kernels);
            EXPECT_LT(relative_error(pass.y, plain_sum(in, pass.choices)), 1e-14) << to_string(kernels);
        }
    }
}

TEST(Experts, give_the_same_three_ways) {
    Sizes large;  // blocks of rows, more than the fused kernels take at once
    large.tokens = 2500, large.hidden = 40, large.inner = 17;
    std::vector<Sizes> all = all_sizes();
    all.push_back(large);
    for (const Sizes& sizes : all) {
        const Inputs in{sizes};
        const auto loop = in.run<double, double>(models::ExpertKernels::kLoop);
        for (const models::ExpertKernels kernels : {models::ExpertKernels::kGrouped, models::ExpertKernels::kFused}) {
            const auto other = in.run<double, double>(kernels);
            EXPECT_LT(relative_error(other.y, loop.y), 1e-12) << to_string(kernels);
            EXPECT_LT(relative_error(other.dx, loop.dx), 1e-12) << to_string(kernels);
            EXPECT_LT(relative_error(other.d_weights, loop.d_weights), 1e-12) << to_string(kernels);
            EXPECT_LT(relative_error(other.gradients, loop.gradients), 1e-12) << to_string(kernels);
        }
    }
}

void expect_gradients(const Sizes& sizes) {
    const Inputs in{sizes};
    for (const models::ExpertKernels kernels : kWays) {
        const auto pass = in.run<double, double>(kernels);
        const auto gradient_of = [&](Numbers Inputs::*input) {
            const auto loss = [&](const Numbers& x) {
                Inputs changed = in;
                changed.*input = x;
                return dot(plain_sum(changed, pass.choices), in.dy);
            };
            return differences(loss, in.*input);
        };
        EXPECT_LT(relative_error(pass.dx, gradient_of(&Inputs::x)), kDifferenceError) << to_string(kernels);
        EXPECT_LT(relative_error(pass.d_weights, gradient_of(&Inputs::weights)), kDifferenceError)
            << to_string(kernels);
        EXPECT_LT(relative_error(pass.gradients, gradient_of(&Inputs::parameters)), kDifferenceError)
            << to_string(kernels);
    }
}

TEST(Experts, have_their_gradients) {
    for (const Sizes& sizes : all_sizes()) {
        expect_gradients(sizes);
    }
}

template <typename V>
void expect_near_double(const Sizes& sizes, double tolerance) {
    const Inputs in{sizes};
    const auto exact = in.run<double, double>(models::ExpertKernels::kFused);
    for (const models::ExpertKernels kernels : kWays) {
        const auto pass = in.run<V, float>(kernels);
        EXPECT_LT(relative_error(numbers_of(pass.y), exact.y), tolerance) << to_string(kernels);
        EXPECT_LT(relative_error(numbers_of(pass.dx), exact.dx), tolerance) << to_string(kernels);
        EXPECT_LT(relative_error(numbers_of(pass.d_weights), exact.d_weights), tolerance) << to_string(kernels);
        EXPECT_LT(relative_error(numbers_of(pass.gradients), exact.gradients), tolerance) << to_string(kernels);
    }
}

TEST(Experts, are_near_double_in_float_and_bfloat16) {
    for (const Sizes& sizes : all_sizes()) {
        expect_near_double<float>(sizes, kFloatError);
        expect_near_double<Bf16>(sizes, kBf16Error);
    }
}

/// Rows that come in some order and go back in it, with the experts' order in between.
TEST(Experts, leave_rows_where_they_arrived) {
    const Inputs in{Sizes{}};
    for (const models::ExpertKernels kernels : kWays) {
        const auto pass = in.run<double, double>(kernels);
        const std::size_t rows = pass.rows(), h = in.s.hidden;
        std::vector<std::int32_t> arrival(rows);
        for (std::size_t row = 0; row < rows; ++row) {
            arrival[row] = static_cast<std::int32_t>((row * 7 + 3) % rows);
        }
        const RowOrder order{arrival.data(), 1};
        const auto scattered = [&](const Numbers& sorted) {
            Numbers result(sorted.size());
            scatter_rows<double>({0, rows}, h, sorted.data(), order, result.data());
            return result;
        };
        const Numbers source = scattered(pass.permuted), upstream = scattered(pass.d_rows);
        Numbers permuted(source), gate_up(pass.gate_up), product(pass.product), outputs(source), back(source);
        expert_forward<double>(
            kernels, pass.shape(), in.parameters.data(),
            {source.data(), order, permuted.data(), gate_up.data(), product.data(), outputs.data(), back.data()});
        EXPECT_EQ(permuted, pass.permuted);
        EXPECT_EQ(back, scattered(pass.outputs)) << to_string(kernels);
        Numbers d_rows(source), d_product(product), d_gate_up(gate_up), d_permuted(source);
        expert_backward<double>(kernels, pass.shape(), in.parameters.data(),
                                {upstream.data(), order, gate_up.data(), d_rows.data(), d_product.data(),
                                 d_gate_up.data(), d_permuted.data(), back.data(), nullptr, nullptr});
        EXPECT_EQ(d_rows, pass.d_rows);
        const auto loop = in.run<double, double>(models::ExpertKernels::kLoop);  // the one that keeps all of d_permuted
        EXPECT_LT(relative_error(back, scattered(loop.d_permuted)), 1e-12) << to_string(kernels);
    }
}

}  // namespace
}  // namespace auspex::exec
