/// @file Operands of the router's kernels, of orders of rows, and of the experts' products. Routing is even: of every
/// `experts` slots in a row each expert has one, in an order that is drawn anew, so that the rows of an expert come
/// from tokens at uneven distances.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/error.hpp"
#include "exec/kernels/experts.hpp"
#include "exec/kernels/routing.hpp"
#include "exec/state/routing_source.hpp"
#include "microbench/kernel_operands.hpp"

namespace auspex::microbench {
namespace {

using Call = std::function<void()>;

/// Experts that sums and gradients of sums choose from, at least: their calls do not say how many there are.
constexpr std::size_t kManyExperts = 16;

std::int64_t* even_choices(std::size_t slots, std::size_t experts, OperandArrays& arrays) {
    auto* const choices = arrays.filled(slots, std::int64_t{0});
    std::vector<std::int64_t> block(experts);
    std::iota(block.begin(), block.end(), std::int64_t{0});
    for (std::size_t begin = 0; begin < slots; begin += experts) {
        for (std::size_t last = experts - 1; last > 0; --last) {
            std::swap(block[last], block[arrays.rng().below(last + 1)]);
        }
        std::copy_n(block.begin(), std::min(experts, slots - begin), choices + begin);
    }
    return choices;
}

/// With the rows of all experts.
exec::Assignment even_assignment(std::size_t tokens, std::size_t top_k, std::size_t experts, OperandArrays& arrays) {
    const std::size_t slots = tokens * top_k;
    const std::int64_t* const choices = even_choices(slots, experts, arrays);
    auto* const offsets = arrays.filled(experts + 1, std::int64_t{0});
    auto* const row_slots = arrays.filled(slots, std::int32_t{0});
    exec::count_choices(slots, choices, 0, experts, offsets);
    exec::sort_slots(slots, choices, 0, experts, offsets, row_slots);
    return {tokens, top_k, 0, experts, choices, offsets, row_slots};
}

/// Choices of a token where a call does not say how many: as a model of few experts has them, if rows allow it.
std::size_t choices_of(std::size_t rows) { return rows % 2 == 0 ? 2 : 1; }

template <class P>
Call router_forward_call(const CallSizes& s, OperandArrays& arrays) {
    using R = typename P::Real;
    const R* const logits = arrays.numbers<R>(s.rows * s.columns);
    R* const probabilities = arrays.filled(s.rows * s.columns, R{0});
    R* const weights = arrays.filled(s.rows * s.depth, R{0});
    auto* const choices = arrays.filled(s.rows * s.depth, std::int64_t{0});
    const auto around = [=](const auto& choose) {
        exec::router_softmax(s.rows, s.columns, logits, probabilities);
        choose();
        exec::choice_weights(s.rows, s.columns, s.depth, false, static_cast<const R*>(probabilities),
                             static_cast<const std::int64_t*>(choices), weights);
    };
    if (s.kernel == models::CpuKernel::kRouterUniform) {
        auto* const tokens = arrays.filled(s.rows, std::int64_t{0});
        std::iota(tokens, tokens + s.rows, 0);
        return [=] {
            around([=] {
                forced_choices(exec::RoutingSource{.mode = exec::RoutingMode::kUniform}, 0, 0, {tokens, s.rows},
                               static_cast<int>(s.columns), static_cast<int>(s.depth), {choices, s.rows * s.depth});
            });
        };
    }
    return [=] {
        around(
            [=] { exec::choose_experts(s.rows, s.columns, s.depth, static_cast<const R*>(probabilities), choices); });
    };
}

/// The rows are one sequence.
template <class P>
Call router_losses_call(const CallSizes& s, OperandArrays& arrays) {
    using R = typename P::Real;
    const R* const logits = arrays.numbers<R>(s.rows * s.columns);
    R* const probabilities = arrays.filled(s.rows * s.columns, R{0});
    exec::router_softmax(s.rows, s.columns, logits, probabilities);
    const std::int64_t* const choices = even_choices(s.rows * s.depth, s.columns, arrays);
    if (s.kernel == models::CpuKernel::kRouterLosses) {
        double* const losses = arrays.filled(2, 0.0);
        return [=] {
            losses[0] += exec::router_z_sum(s.rows, s.columns, logits);
            losses[1] +=
                exec::balance_sum(1, s.rows, s.columns, s.depth, static_cast<const R*>(probabilities), choices);
        };
    }
    const R* const d_weights = arrays.numbers<R>(s.rows * s.depth);
    R* const gradient = arrays.filled(s.rows * s.columns, R{0});
    return [=] {
        const R* const p = probabilities;
        std::fill_n(gradient, s.rows * s.columns, R{0});
        exec::choice_weights_backward(s.rows, s.columns, s.depth, false, p, choices, d_weights, gradient);
        exec::balance_backward<R>(1, s.rows, s.columns, s.depth, choices, 1e-2, gradient);
        exec::router_softmax_backward(s.rows, s.columns, p, static_cast<const R*>(gradient), gradient);
        exec::router_z_backward(s.rows, s.columns, logits, 1e-3, gradient);
    };
}

/// Counting and sorting of slots.
Call order_call(const CallSizes& s, OperandArrays& arrays) {
    const exec::Assignment of = even_assignment(s.rows, 1, s.columns, arrays);
    auto* const offsets = arrays.filled(s.columns + 1, std::int64_t{0});
    if (s.kernel == models::CpuKernel::kCountChoices) {
        return [=] { exec::count_choices(s.rows, of.choices, 0, s.columns, offsets); };
    }
    auto* const row_slots = arrays.filled(s.rows, std::int32_t{0});
    return [=] { exec::sort_slots(s.rows, of.choices, 0, s.columns, of.offsets, row_slots); };
}

Call mask_call(const CallSizes& s, OperandArrays& arrays) {
    AUSPEX_CHECK(s.groups <= s.columns, "the experts looked for are among all");
    const std::size_t slots = s.rows * s.depth;
    const std::int64_t* const choices = even_choices(slots, s.columns, arrays);
    auto* const mask = arrays.filled(slots * s.columns, std::int64_t{0});
    if (s.kernel == models::CpuKernel::kOneHotMask) {
        return [=] { exec::one_hot_mask(s.rows, s.depth, s.columns, choices, mask); };
    }
    exec::one_hot_mask(s.rows, s.depth, s.columns, choices, mask);
    auto* const row_slots = arrays.filled(slots, std::int32_t{0});
    return [=] {
        std::size_t found = 0;
        for (std::size_t e = 0; e < s.groups; ++e) {
            found += exec::find_in_mask(s.rows, s.depth, s.columns, e, static_cast<const std::int64_t*>(mask),
                                        row_slots + found);
        }
    };
}

template <class P>
Call gather_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    const std::size_t top_k = choices_of(s.rows), tokens = s.rows / top_k;
    const exec::Assignment of = even_assignment(tokens, top_k, kManyExperts, arrays);
    const V* const from = arrays.numbers<V>(tokens * s.columns);
    V* const to = arrays.filled(s.rows * s.columns, V{});
    return [=] { exec::gather_rows(of.rows(), s.columns, from, of.tokens_of_rows(), to); };
}

template <class P>
Call sum_rows_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    using R = typename P::Real;
    const models::ExpertKernels kernels =
        s.kernel == models::CpuKernel::kSumRowsFused ? models::ExpertKernels::kFused : models::ExpertKernels::kGrouped;
    const exec::Assignment of = even_assignment(s.rows, s.depth, std::max(kManyExperts, s.depth), arrays);
    const std::size_t slots = s.rows * s.depth;
    const V* const rows = arrays.numbers<V>(slots * s.columns);
    const R* const weights = arrays.numbers<R>(slots, 0.1F, 0.5F);
    V* const sums = arrays.filled(s.rows * s.columns, V{});
    return [=] { exec::sum_rows(kernels, of, s.columns, rows, weights, sums); };
}

template <class P>
Call sum_rows_backward_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    using R = typename P::Real;
    const models::ExpertKernels kernels = s.kernel == models::CpuKernel::kSumRowsBackwardFused
                                              ? models::ExpertKernels::kFused
                                              : models::ExpertKernels::kGrouped;
    const std::size_t top_k = choices_of(s.rows), tokens = s.rows / top_k;
    const exec::Assignment of = even_assignment(tokens, top_k, kManyExperts, arrays);
    const V *const d_sums = arrays.numbers<V>(tokens * s.columns), *const rows = arrays.numbers<V>(s.rows * s.columns);
    const R* const weights = arrays.numbers<R>(s.rows, 0.1F, 0.5F);
    V* const d_rows = arrays.filled(s.rows * s.columns, V{});
    R* const d_weights = arrays.filled(s.rows, R{0});
    return
        [=] { exec::sum_rows_backward(kernels, of, of.rows(), s.columns, d_sums, rows, weights, d_rows, d_weights); };
}

models::ExpertKernels expert_kernels(models::CpuKernel kernel) {
    switch (kernel) {
        case models::CpuKernel::kExpertsForwardLoop:
        case models::CpuKernel::kExpertsBackwardLoop:
        case models::CpuKernel::kExpertsWeightsLoop: return models::ExpertKernels::kLoop;
        case models::CpuKernel::kExpertsForwardFused:
        case models::CpuKernel::kExpertsBackwardFused: return models::ExpertKernels::kFused;
        default: return models::ExpertKernels::kGrouped;
    }
}

/// Rows are split as evenly as they can be.
exec::ExpertShape expert_shape(const CallSizes& s, OperandArrays& arrays) {
    auto* const offsets = arrays.filled(s.groups + 1, std::int64_t{0});
    for (std::size_t e = 0; e <= s.groups; ++e) {
        offsets[e] = static_cast<std::int64_t>(s.rows * e / s.groups);
    }
    return {s.groups, s.depth, s.columns, 3 * s.columns * s.depth, offsets};
}

/// Weights of all experts, scaled so that outputs are as large as inputs.
template <typename V>
const V* expert_weights(const exec::ExpertShape& shape, OperandArrays& arrays) {
    const double summed = static_cast<double>(std::max(shape.hidden, shape.inner));
    return arrays.numbers<V>(shape.experts * shape.stride, static_cast<float>(1 / std::sqrt(summed)));
}

template <class P>
Call experts_forward_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    const models::ExpertKernels kernels = expert_kernels(s.kernel);
    const exec::ExpertShape shape = expert_shape(s, arrays);
    const V* const weights = expert_weights<V>(shape, arrays);
    exec::ExpertForward<V> x;
    x.source = arrays.numbers<V>(s.rows * shape.hidden);
    x.gate_up = arrays.filled(s.rows * 2 * shape.inner, V{});
    x.product = arrays.filled(s.rows * shape.inner, V{});
    x.outputs = arrays.filled(s.rows * shape.hidden, V{});
    return [=] { exec::expert_forward<V>(kernels, shape, weights, x); };
}

template <class P>
Call experts_backward_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    const models::ExpertKernels kernels = expert_kernels(s.kernel);
    const exec::ExpertShape shape = expert_shape(s, arrays);
    const V* const weights = expert_weights<V>(shape, arrays);
    exec::ExpertBackward<V> x;
    x.gate_up = arrays.numbers<V>(s.rows * 2 * shape.inner);
    x.d_rows = arrays.numbers<V>(s.rows * shape.hidden);
    x.d_product = arrays.filled(s.rows * shape.inner, V{});
    x.d_gate_up = arrays.filled(s.rows * 2 * shape.inner, V{});
    x.d_permuted = arrays.filled(s.rows * shape.hidden, V{});
    return [=] { exec::expert_backward<V>(kernels, shape, weights, x); };
}

template <class P>
Call experts_weights_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    const models::ExpertKernels kernels = expert_kernels(s.kernel);
    const exec::ExpertShape shape = expert_shape(s, arrays);
    const V *const rows = arrays.numbers<V>(s.rows * shape.hidden),
                   *const product = arrays.numbers<V>(s.rows * shape.inner),
                   *const d_rows = arrays.numbers<V>(s.rows * shape.hidden),
                   *const d_gate_up = arrays.numbers<V>(s.rows * 2 * shape.inner);
    auto* const gradients = arrays.filled(shape.experts * shape.stride, typename P::Gradient{});
    return [=] { exec::expert_weight_gradients(kernels, shape, rows, product, d_rows, d_gate_up, gradients); };
}

}  // namespace

template <class P>
Call expert_call(const CallSizes& s, OperandArrays& arrays) {
    switch (s.kernel) {
        case models::CpuKernel::kRouterForward:
        case models::CpuKernel::kRouterUniform: return router_forward_call<P>(s, arrays);
        case models::CpuKernel::kRouterLosses:
        case models::CpuKernel::kRouterBackward: return router_losses_call<P>(s, arrays);
        case models::CpuKernel::kCountChoices:
        case models::CpuKernel::kSortSlots: return order_call(s, arrays);
        case models::CpuKernel::kOneHotMask:
        case models::CpuKernel::kFindInMask: return mask_call(s, arrays);
        case models::CpuKernel::kGatherRows: return gather_call<P>(s, arrays);
        case models::CpuKernel::kSumRows:
        case models::CpuKernel::kSumRowsFused: return sum_rows_call<P>(s, arrays);
        case models::CpuKernel::kSumRowsBackward:
        case models::CpuKernel::kSumRowsBackwardFused: return sum_rows_backward_call<P>(s, arrays);
        case models::CpuKernel::kExpertsForwardLoop:
        case models::CpuKernel::kExpertsForwardGrouped:
        case models::CpuKernel::kExpertsForwardFused: return experts_forward_call<P>(s, arrays);
        case models::CpuKernel::kExpertsBackwardLoop:
        case models::CpuKernel::kExpertsBackwardGrouped:
        case models::CpuKernel::kExpertsBackwardFused: return experts_backward_call<P>(s, arrays);
        case models::CpuKernel::kExpertsWeightsLoop:
        case models::CpuKernel::kExpertsWeightsGrouped: return experts_weights_call<P>(s, arrays);
        default: return {};
    }
}

template Call expert_call<exec::Fp32>(const CallSizes&, OperandArrays&);
template Call expert_call<exec::Bf16Precision>(const CallSizes&, OperandArrays&);

}  // namespace auspex::microbench
