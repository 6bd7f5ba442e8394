#pragma once
/// @file One operation of a mixture-of-experts block, with what it reads and writes.

#include "exec/kernels/experts.hpp"
#include "exec/operations/sublayer.hpp"

namespace auspex::exec {

template <class P>
struct ExpertContext : SublayerContext<P, FeedForwardTensors<P>> {
    using Context = SublayerContext<P, FeedForwardTensors<P>>;
    using Context::rank, Context::s, Context::slots, Context::tensors;
    using typename Context::R;
    using typename Context::V;
    ExpertTensors<P>& x;
    models::ExpertKernels kernels;

    ExpertContext(Rank<P>& on, const CurrentOperation& operation)
        : Context(on, operation, feed_forward_of(on, operation), on.plan().recompute_expert),
          x(tensors.experts),
          kernels(on.plan().expert_kernels) {}

    /// Tokens, choices and weights of all ep ranks are here.
    [[nodiscard]] bool gathered() const { return s.ep > 1 && !s.all_to_all; }
    /// Shared experts read the block's output gradient behind the routed ones, and have the last gradients of weights.
    [[nodiscard]] bool has_shared() const { return s.shared_inner > 0; }
    /// The loop without all-to-all: outputs' gradients are among its experts' kernels.
    [[nodiscard]] bool loop_with_sums() const { return kernels == models::ExpertKernels::kLoop && !s.all_to_all; }
    [[nodiscard]] std::size_t slot_count() const { return (s.all_to_all ? s.t : s.gathered) * s.top_k; }
    [[nodiscard]] std::size_t ep_rank() const { return static_cast<std::size_t>(rank.coordinates.ep); }

    /// The block's input [t, h].
    [[nodiscard]] const V* input() const {
        const bool only_in_tokens =
            gathered() && s.sequence_parallel && tensors.gathered_norm.empty() && rank.running.saved.empty();
        return only_in_tokens ? x.tokens.data() + ep_rank() * s.t * s.h : sublayer_input<P>(rank, tensors);
    }
    /// Of the tokens that are counted here: the gathered ones, or with all-to-all (or one ep rank) the rank's own.
    [[nodiscard]] const std::int64_t* choices() const { return gathered() ? x.all_choices.data() : x.choices.data(); }
    [[nodiscard]] const R* weights() const { return gathered() ? x.all_weights.data() : x.weights.data(); }
    /// Rows that are counted here: of the rank's experts, or with all-to-all of all experts before they leave.
    [[nodiscard]] Assignment assignment() const {
        const std::size_t first = s.all_to_all ? 0 : ep_rank() * s.local_experts;
        return {s.all_to_all ? s.t : s.gathered,
                s.top_k,
                static_cast<std::int64_t>(first),
                s.all_to_all ? s.experts : s.local_experts,
                choices(),
                x.offsets.data(),
                x.row_slots.data()};
    }
    /// Of the rank's experts, over the rows that they compute.
    [[nodiscard]] ExpertShape expert_shape() const {
        return {s.local_experts, s.h, s.expert_inner, slots.expert_stride,
                s.all_to_all ? x.arrival_offsets.data() : x.offsets.data()};
    }
    [[nodiscard]] const V* expert_weights() const { return weights_from(rank, true, slots.experts); }
    /// Rows that the rank's experts compute.
    [[nodiscard]] std::size_t computed_rows() const {
        return s.all_to_all ? x.received_experts.size() : static_cast<std::size_t>(x.offsets[s.local_experts]);
    }
    /// Rows that arrived are not in the order of experts.
    [[nodiscard]] bool sorts_arrivals() const { return s.all_to_all && s.local_experts > 1; }
    /// Where a computed row came from: its token, or its index of arrival.
    [[nodiscard]] RowOrder row_order() const {
        return s.all_to_all ? RowOrder{x.arrival.data(), 1} : RowOrder{x.row_slots.data(), s.top_k};
    }

    void leave() const {
        this->finish(s.ep == 1 && !this->recomputes, [&] {
            x = {};
            tensors.gate_up.reset(), tensors.product.reset();
        });
    }
};

// expert_dispatch.cpp
template <class P>
void token_communication(ExpertContext<P>& on);
template <class P>
void token_return(ExpertContext<P>& on);

// expert_computation.cpp
template <class P>
void token_counting(ExpertContext<P>& on);
template <class P>
void index_generation(ExpertContext<P>& on);
template <class P>
void expert_computation(ExpertContext<P>& on);
template <class P>
void output_reduction(ExpertContext<P>& on);

// shared_experts.cpp
template <class P>
void shared_expert(ExpertContext<P>& on);
template <class P>
void shared_expert_sum(ExpertContext<P>& on);

}  // namespace auspex::exec
