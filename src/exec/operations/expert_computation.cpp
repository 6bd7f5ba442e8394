/// @file Counting, indices, the experts' products and the sums of their outputs.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "exec/kernels/copies.hpp"
#include "exec/operations/expert_context.hpp"

namespace auspex::exec {
namespace {

/// Rows that arrived, sorted by expert.
template <class P>
void sort_arrivals(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    const auto first = static_cast<std::int64_t>(on.ep_rank() * s.local_experts);
    const std::size_t rows = on.computed_rows();
    on.x.arrival_offsets = on.template kept<std::int64_t>(s.local_experts + 1);
    count_choices(rows, on.x.received_experts.data(), first, s.local_experts, on.x.arrival_offsets.data());
    if (on.sorts_arrivals()) {
        on.x.arrival = on.template kept<std::int32_t>(rows);
        sort_slots(rows, on.x.received_experts.data(), first, s.local_experts, on.x.arrival_offsets.data(),
                   on.x.arrival.data());
    }
}

template <class P>
void compute_experts(ExpertContext<P>& on) {
    using V = typename P::Value;
    const RankShapes& s = on.s;
    if (s.all_to_all) {
        sort_arrivals(on);
    }
    const bool as_arrived = s.all_to_all && !on.sorts_arrivals();
    const std::size_t rows = on.computed_rows();
    on.x.permuted = on.template kept<V>(as_arrived ? 0 : rows * s.h);
    on.x.gate_up = on.template kept<V>(rows * s.gates * s.expert_inner);
    on.x.product = on.template kept<V>(rows * s.expert_inner, &models::Recompute::activation);
    on.x.outputs = s.all_to_all ? on.template workspace<V>(rows * s.h) : on.template kept<V>(rows * s.h);
    Buffer<V> back = on.template workspace<V>(on.sorts_arrivals() ? rows * s.h : 0);
    const V* source = s.all_to_all ? on.x.received.data() : on.gathered() ? on.x.tokens.data() : on.input();
    expert_forward<V>(on.kernels, on.expert_shape(), on.expert_weights(),
                      {source, as_arrived ? RowOrder{} : on.row_order(), on.x.permuted.data(), on.x.gate_up.data(),
                       on.x.product.data(), on.x.outputs.data(), back.data()});
    if (on.sorts_arrivals()) {
        on.x.received.reset();
        on.x.outputs = std::move(back);
    }
}

/// Buffers for the gradients of rows and of choices' weights, where outputs are summed on the experts' rank.
template <class P>
void make_sum_gradients(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    on.x.d_rows = on.template workspace<typename P::Value>(on.computed_rows() * s.h);
    on.x.d_all_weights = on.template workspace<typename P::Real>(s.gathered * s.top_k);
    clear_values(on.x.d_all_weights.span());  // choices of other ranks' experts
}

/// Gradient of the outputs' sums: gathered over ep, or what the sublayer got.
template <class P>
const typename P::Value* sums_gradient(const ExpertContext<P>& on) {
    return on.gathered() ? std::as_const(on.running.x).data() : on.routed_gradient();
}

/// Shared experts may read it, too.
template <class P>
void release_routed_gradient(ExpertContext<P>& on) {
    if (!on.has_shared() || on.shared_apart()) {
        on.running.gathered_g.reset();
    }
}

/// The experts' products backward; `d_tokens` [T, h] too where tokens are here.
template <class P>
void compute_with_tokens_backward(ExpertContext<P>& on) {
    using V = typename P::Value;
    using R = typename P::Real;
    const RankShapes& s = on.s;
    const std::size_t rows = on.computed_rows(), tokens = s.gathered * s.h;
    if (on.loop_with_sums()) {
        make_sum_gradients(on);
    }
    on.x.d_product = on.template workspace<V>(rows * s.expert_inner);
    on.x.d_gate_up = on.template workspace<V>(rows * s.gates * s.expert_inner);
    on.x.d_permuted = on.template workspace<V>(rows * s.h);
    on.x.d_tokens = on.template workspace<V>(tokens);
    Buffer<V> one_expert = on.template workspace<V>(on.loop_with_sums() ? tokens : 0);
    const Assignment of = on.assignment();
    ExpertBackward<V> gradients;
    gradients.gate_up = on.x.gate_up.data(), gradients.d_rows = on.x.d_rows.data();
    gradients.d_product = on.x.d_product.data(), gradients.d_gate_up = on.x.d_gate_up.data();
    gradients.d_permuted = on.x.d_permuted.data();
    if (on.loop_with_sums()) {
        loop_backward<V, R>(on.expert_shape(), of, on.expert_weights(), gradients,
                            {sums_gradient(on), on.x.outputs.data(), on.weights(), on.x.d_all_weights.data(),
                             one_expert.data(), on.x.d_tokens.data()});
    } else {
        gradients.assignment = &of, gradients.d_tokens = on.x.d_tokens.data();
        expert_backward<V>(on.kernels, on.expert_shape(), on.expert_weights(), gradients);
    }
    on.x.d_product.reset();
    on.x.d_permuted.reset();
    release_routed_gradient(on);
    on.running.x.reset();
    if (!on.gathered()) {  // nothing to exchange: the block's input gradient is here
        on.running.x = std::move(on.x.d_tokens);
        on.x.d_weights = std::move(on.x.d_all_weights);
    }
}

template <class P>
void compute_arrivals_backward(ExpertContext<P>& on) {
    using V = typename P::Value;
    const RankShapes& s = on.s;
    const std::size_t rows = on.computed_rows();
    Buffer<V> arrived, back;
    if (on.sorts_arrivals()) {
        arrived = std::exchange(on.x.d_rows, on.template workspace<V>(rows * s.h));
    }
    on.x.d_product = on.template workspace<V>(rows * s.expert_inner);
    on.x.d_gate_up = on.template workspace<V>(rows * s.gates * s.expert_inner);
    on.x.d_permuted = on.template workspace<V>(rows * s.h);
    if (on.sorts_arrivals()) {
        back = on.template workspace<V>(rows * s.h);
    }
    expert_backward<V>(on.kernels, on.expert_shape(), on.expert_weights(),
                       {arrived.data(), on.row_order(), on.x.gate_up.data(), on.x.d_rows.data(), on.x.d_product.data(),
                        on.x.d_gate_up.data(), on.x.d_permuted.data(), back.data(), nullptr, nullptr});
    on.x.d_product.reset();
    if (on.sorts_arrivals()) {
        on.x.d_permuted = std::move(back);
    }
}

template <class P>
void weight_gradients(ExpertContext<P>& on) {
    const Buffer<typename P::Value>& rows = on.s.all_to_all && !on.sorts_arrivals() ? on.x.received : on.x.permuted;
    expert_weight_gradients(on.kernels, on.expert_shape(), rows.data(), std::as_const(on.x.product).data(),
                            std::as_const(on.x.d_rows).data(), std::as_const(on.x.d_gate_up).data(),
                            gradients_from(on.rank, true, on.slots.experts));
    if (!on.current.has_waited()) {
        on.x.d_rows.reset();
        on.x.d_gate_up.reset();
    } else if (!on.has_shared()) {
        on.tensors = {};
    }
}

}  // namespace

template <class P>
void token_counting(ExpertContext<P>& on) {
    const Assignment of = on.assignment();
    const bool loop = on.kernels == models::ExpertKernels::kLoop;
    on.x.offsets = on.template kept<std::int64_t>(of.experts + 1);
    on.x.mask = on.template workspace<std::int64_t>(loop ? on.slot_count() * on.s.experts : 0);
    count_choices(on.slot_count(), of.choices, of.first_expert, of.experts, on.x.offsets.data());
    if (loop) {
        one_hot_mask(of.tokens, of.top_k, on.s.experts, of.choices, on.x.mask.data());
    }
}

template <class P>
void index_generation(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    if (!on.forward()) {
        const typename P::Real* unweighted = nullptr;
        on.running.x = on.template workspace<typename P::Value>(s.t_routed * s.h);
        sum_rows(on.kernels, on.assignment(), s.h, std::as_const(on.x.d_sent).data(), unweighted, on.running.x.data());
        on.x.d_sent.reset();
        return;
    }
    AUSPEX_CHECK(on.slot_count() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
                 "slots have 32-bit numbers");
    const std::size_t rows = on.assignment().rows().size();
    on.x.row_slots = on.template kept<std::int32_t>(rows);
    on.x.send_rows = on.template workspace<typename P::Value>(s.all_to_all ? rows * s.h : 0);
    on.x.send_experts = on.template workspace<std::int64_t>(s.all_to_all ? rows : 0);
    const Assignment of = on.assignment();
    if (on.kernels == models::ExpertKernels::kLoop) {
        for (std::size_t e = 0; e < of.experts; ++e) {
            find_in_mask(of.tokens, of.top_k, s.experts, static_cast<std::size_t>(of.first_expert) + e,
                         on.x.mask.data(), on.x.row_slots.data() + of.offsets[e]);
        }
        on.x.mask.reset();
    } else {
        sort_slots(on.slot_count(), of.choices, of.first_expert, of.experts, of.offsets, on.x.row_slots.data());
    }
    if (s.all_to_all) {
        gather_rows(of.rows(), s.h, on.input(), of.tokens_of_rows(), on.x.send_rows.data());
        record_call("look_up_experts", rows);
        std::ranges::transform(on.x.row_slots.span(), on.x.send_experts.data(),
                               [&of](std::int32_t slot) { return of.choices[slot]; });
    }
}

template <class P>
void expert_computation(ExpertContext<P>& on) {
    if (on.forward()) {
        compute_experts(on);
    } else if (on.current.op.phase == schedule::Phase::kBackwardWeight) {
        weight_gradients(on);
    } else if (on.s.all_to_all) {
        compute_arrivals_backward(on);
    } else {
        compute_with_tokens_backward(on);
    }
}

template <class P>
void output_reduction(ExpertContext<P>& on) {
    using V = typename P::Value;
    const RankShapes& s = on.s;
    const Assignment of = on.assignment();
    const V* rows = s.all_to_all ? std::as_const(on.x.returned).data() : std::as_const(on.x.outputs).data();
    if (on.forward()) {
        on.running.x = on.template workspace<V>(of.tokens * s.h);
        sum_rows(on.kernels, of, s.h, rows, on.weights(), on.running.x.data());
        if (!on.gathered()) {
            on.leave();
        }
    } else if (s.all_to_all) {
        on.x.d_sent = on.template workspace<V>(on.sent_rows() * s.h);
        on.x.d_weights = on.template workspace<typename P::Real>(s.t_routed * s.top_k);
        sum_rows_backward(on.kernels, of, of.rows(), s.h, sums_gradient(on), rows, on.weights(), on.x.d_sent.data(),
                          on.x.d_weights.data());
        release_routed_gradient(on);
    } else {
        make_sum_gradients(on);
        sum_rows_backward(on.kernels, of, of.rows(), s.h, sums_gradient(on), rows, on.weights(), on.x.d_rows.data(),
                          on.x.d_all_weights.data());
    }
}

#define AUSPEX_INSTANTIATE(P)                            \
    template void token_counting(ExpertContext<P>&);     \
    template void index_generation(ExpertContext<P>&);   \
    template void expert_computation(ExpertContext<P>&); \
    template void output_reduction(ExpertContext<P>&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
