#pragma once
/// @file One operation of a mixture-of-experts block, with what it reads and writes.

#include "exec/kernels/experts.hpp"
#include "exec/kernels/routing.hpp"
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
        : Context(on, operation, feed_forward_of(on, operation), &models::Recompute::expert),
          x(tensors.experts),
          kernels(on.plan().expert_kernels) {}

    /// Tokens, choices and weights of all ep ranks are here.
    [[nodiscard]] bool gathered() const { return s.ep > 1 && !s.all_to_all; }
    /// Shared experts read the block's output gradient behind the routed ones, and have the last gradients of weights.
    [[nodiscard]] bool has_shared() const { return s.shared_inner > 0; }
    /// The loop without all-to-all: outputs' gradients are among its experts' kernels.
    [[nodiscard]] bool loop_with_sums() const { return kernels == models::ExpertKernels::kLoop && !s.all_to_all; }
    [[nodiscard]] std::size_t slot_count() const { return (s.all_to_all ? s.t_routed : s.gathered) * s.top_k; }
    [[nodiscard]] std::size_t ep_rank() const { return static_cast<std::size_t>(rank.coordinates.ep); }

    /// Shared experts enter and leave by themselves.
    [[nodiscard]] bool shared_apart() const { return s.etp != s.tp; }
    /// Where etp ranks have fewer tokens than tp ranks that hold them all: elements in front of the former.
    [[nodiscard]] std::size_t slice_begin() const {
        const bool takes_slice = s.etp < s.tp && !s.sequence_parallel;
        return takes_slice ? static_cast<std::size_t>(rank.coordinates.tp) / s.etp * s.t_routed * s.h : 0;
    }
    /// Of what the block got, that of its routed experts [t_routed, h] and, backward, the gradient of what they made.
    [[nodiscard]] const V* input() const { return shared_apart() ? entered_input() : whole_input(); }
    [[nodiscard]] const V* routed_gradient() const { return output_gradient(rank) + slice_begin(); }
    /// The same for shared experts [t, h].
    [[nodiscard]] const V* shared_input() const {
        if (!shared_apart()) {
            return whole_input();
        }
        return !rank.running.saved.empty() && s.sequence_parallel ? rank.running.saved.data()
               : !tensors.shared_input.empty()                    ? tensors.shared_input.data()
                                                                  : tensors.norm.data();
    }
    [[nodiscard]] const V* shared_gradient() const {
        return !rank.running.shared_g.empty() ? rank.running.shared_g.data()
               : shared_apart()               ? rank.running.g.data()
                                              : output_gradient(rank);
    }

    /// The input before it is among the tokens of all ep ranks.
    [[nodiscard]] const V* entered() const {
        return shared_apart() ? entered_input() : sublayer_input<P>(rank, tensors);
    }
    /// Gathered over etp, or a slice of what is here; gathered over tp once more it is the same for shared experts.
    [[nodiscard]] const V* entered_input() const {
        const bool is_gathered = s.etp > 1 && (s.sequence_parallel || s.etp > s.tp);
        if (!is_gathered) {
            return tensors.norm.data() + slice_begin();
        }
        if (!tensors.gathered_norm.empty()) {
            return tensors.gathered_norm.data();
        }
        if (gathered()) {
            return x.tokens.data() + ep_rank() * s.t_routed * s.h;
        }
        const auto& saved = rank.running.saved;
        const bool over_tp = saved.size() == s.t * s.h;
        return saved.data() + (over_tp ? static_cast<std::size_t>(rank.coordinates.tp) / s.etp * s.t_routed * s.h : 0);
    }
    /// [t, h]
    [[nodiscard]] const V* whole_input() const {
        const bool only_in_tokens =
            gathered() && s.sequence_parallel && tensors.gathered_norm.empty() && rank.running.saved.empty();
        return only_in_tokens ? x.tokens.data() + ep_rank() * s.t_routed * s.h : sublayer_input<P>(rank, tensors);
    }
    /// Of the tokens that are counted here: the gathered ones, or with all-to-all (or one ep rank) the rank's own.
    [[nodiscard]] const std::int64_t* choices() const { return gathered() ? x.all_choices.data() : x.choices.data(); }
    [[nodiscard]] const R* weights() const { return gathered() ? x.all_weights.data() : x.weights.data(); }
    /// Rows that are counted here: of the rank's experts, or with all-to-all of all experts before they leave.
    [[nodiscard]] Assignment assignment() const {
        const std::size_t first = s.all_to_all ? 0 : ep_rank() * s.local_experts;
        return {s.all_to_all ? s.t_routed : s.gathered,
                s.top_k,
                static_cast<std::int64_t>(first),
                s.all_to_all ? s.experts : s.local_experts,
                choices(),
                x.offsets.data(),
                x.row_slots.data()};
    }
    /// Rows that leave the rank, and come back.
    [[nodiscard]] std::size_t sent_rows() const { return static_cast<std::size_t>(x.offsets[s.experts]); }
    /// Of the rank's experts, over the rows that they compute.
    [[nodiscard]] ExpertShape expert_shape() const {
        ExpertShape shape{s.local_experts, s.h, s.expert_inner, slots.expert_stride,
                          s.all_to_all ? x.arrival_offsets.data() : x.offsets.data()};
        shape.gates = s.gates;
        if (rank.workload().biases) {
            shape.bias_width = s.h / s.etp;
            shape.bias_begin = static_cast<std::size_t>(rank.coordinates.etp) * shape.bias_width;
        }
        return shape;
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
        if (this->current.op.phase == schedule::Phase::kForward) {
            tensors.shared_input.reset();
        }
        this->finish(
            s.ep == 1 && !this->recomputes,
            [&] {
                x = {};
                tensors.gate_up.reset(), tensors.product.reset();
            },
            [&] {
                if (this->redone.activation) {
                    x.product.reset();
                }
                if (this->redone.shared_experts) {
                    tensors.gate_up.reset(), tensors.product.reset();
                }
            });
    }
};

/// What the sums of the router's losses are multiplied by.
struct LossScales {
    double z = 0;        ///< mean over the tokens of the global batch and the model's MoE layers
    double balance = 0;  ///< over its sequences and layers; 0 with a global auxiliary loss, which the head computes
};
template <class P>
[[nodiscard]] LossScales loss_scales(const Rank<P>& rank) {
    const models::Workload& workload = rank.workload();
    const double layers = workload.moe_layers();
    const double sequences = rank.run->layout.global_batch;
    return {rank.training().z_loss / (rank.tokens_of_batch() * layers),
            workload.global_aux_loss ? 0 : rank.training().auxiliary_loss / (sequences * layers)};
}

// sequence_balance.cpp: where RankShapes::splits_sequences
template <class P>
[[nodiscard]] SequenceRange part_of_sequences(const ExpertContext<P>& on);
template <class P>
void sum_sequence_counts(ExpertContext<P>& on);

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
