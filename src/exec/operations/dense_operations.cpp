/// @file The dense feed-forward, and the sums of both sublayers with the residual stream.
#include <utility>

#include "exec/kernels/elementwise.hpp"
#include "exec/kernels/experts.hpp"
#include "exec/operations/sublayer.hpp"

namespace auspex::exec {
namespace {

template <class P>
struct DenseFeedForward : SublayerContext<P, FeedForwardTensors<P>> {
    using Context = SublayerContext<P, FeedForwardTensors<P>>;
    using Context::current, Context::rank, Context::running, Context::s, Context::slots, Context::tensors;
    using typename Context::V;

    DenseFeedForward(Rank<P>& on, const CurrentOperation& operation)
        : Context(on, operation, feed_forward_of(on, operation), &models::Recompute::expert) {}

    void gate_up_projection() {
        if (current.forward()) {
            tensors.gate_up = this->template kept<V>(s.t * s.gates * s.inner);
        }
        run_first_linear(rank, current, tensors, s.gates * s.inner, {slots.gate_up, slots.gate_up_bias},
                         tensors.gate_up);
    }

    /// Of routed experts, recomputed by itself.
    void experts_activation() {
        ExpertTensors<P>& x = tensors.experts;
        const std::size_t rows = x.gate_up.size() / (s.gates * s.expert_inner);
        x.product = this->template kept<V>(rows * s.expert_inner, &models::Recompute::activation);
        expert_activation<V>(rank.plan().expert_kernels, rows, s.gates, s.expert_inner, std::as_const(x.gate_up).data(),
                             x.product.data());
    }

    void activation() {
        if (current.forward() && rank.workload().is_moe_layer(current.op.layer)) {
            return experts_activation();
        }
        if (current.forward()) {
            tensors.product = this->template kept<V>(s.t * s.inner, &models::Recompute::activation);
            const auto activate = s.gates == 2 ? swiglu_forward<V> : gelu_forward<V>;
            activate(s.t, s.inner, tensors.gate_up.data(), tensors.product.data());
        } else {
            const auto differentiate = s.gates == 2 ? swiglu_backward<V> : gelu_backward<V>;
            running.upstream = this->template workspace<V>(s.t * s.gates * s.inner);
            differentiate(s.t, s.inner, tensors.gate_up.data(), running.x.data(), running.upstream.data());
            running.x.reset();
        }
    }

    void down_projection() {
        run_last_linear(rank, current, tensors, tensors.product, s.inner, {slots.down, slots.down_bias});
        if (current.forward()) {
            this->finish(
                false, [&] { tensors.gate_up.reset(), tensors.product.reset(); },
                [&] {
                    if (this->redone.activation) {
                        tensors.product.reset();
                    }
                });
        }
    }
};

/// Where weights wait, the gradient that the sublayer got stays for its last linear layer, which reads it where
/// sequences are not sliced; experts do not.
template <class P>
void add_to_new_gradient(Rank<P>& rank, const CurrentOperation& current) {
    using V = typename P::Value;
    RunningValues<P>& running = rank.running;
    Buffer<V> sum(*rank.arena, schedule::MemoryLabel::kWorkspace, running.g.size());
    add(sum.size(), std::as_const(running.g).data(), running.x.data(), sum.data());
    AttentionTensors<P>& attention = attention_of(rank, current);
    FeedForwardTensors<P>& feed_forward = feed_forward_of(rank, current);
    const bool is_feed_forward = !attention.input.empty();
    if (!rank.shapes.sequence_parallel && (!is_feed_forward || !feed_forward.d_first.empty())) {
        (is_feed_forward ? feed_forward.d_last : attention.d_last) = std::move(running.g);
    }
    running.g = std::move(sum);
}

/// Forward: the sublayer's input and what it has made become the next one's input, or the output of the chunk.
/// Backward: the gradient through the sublayer is added to the gradient past it.
template <class P>
void residual_add(Rank<P>& rank, const CurrentOperation& current) {
    using V = typename P::Value;
    const std::size_t count = rank.shapes.t_slice * rank.shapes.h;
    RunningValues<P>& running = rank.running;
    const bool is_redone = current.op.phase == schedule::Phase::kRecompute;
    if (!current.forward()) {
        current.puts_off_weights() ? add_to_new_gradient(rank, current)
                                   : add(count, running.g.data(), running.x.data(), running.g.data());
        running.x.reset();
        return;
    }
    PassTensors<P>& pass = pass_of(rank, current);
    const std::size_t layer = current.layer_of_chunk();
    const bool after_attention = !in_feed_forward(rank, current);
    // A head reads what the model's last layer makes, and what each prediction module's does.
    const std::size_t heads_begin = current.has_head
                                        ? pass.attention.size() - static_cast<std::size_t>(current.layers.predictions)
                                        : pass.attention.size() + 1;
    const bool leaves_chunk = !after_attention && layer + 1 == pass.attention.size() && !current.has_head;
    const bool leaves_rank = leaves_chunk && !schedule::is_local_boundary(rank.plan(), current.virtual_stage);
    const bool is_kept = !leaves_rank && !(after_attention && redone_of(rank, current).layer) && !is_redone;
    const V* past = after_attention ? pass.attention[layer].input.data() : pass.feed_forward[layer].input.data();
    Buffer<V> sum(*rank.arena, is_kept ? schedule::MemoryLabel::kActivations : schedule::MemoryLabel::kWorkspace,
                  count);
    add(count, past, running.x.data(), sum.data());
    running.x.reset();
    Buffer<V>& next = after_attention                     ? pass.feed_forward[layer].input
                      : heads_begin <= layer + 1          ? pass.heads[layer + 1 - heads_begin].input
                      : layer + 1 < pass.attention.size() ? pass.attention[layer + 1].input
                                                          : running.x;
    next = std::move(sum);
    if (!after_attention && redone_of(rank, current).layer) {
        pass.feed_forward[layer].input.reset();
    }
}

}  // namespace

template <class P>
bool run_feed_forward_operation(Rank<P>& rank, const CurrentOperation& current) {
    const auto on = [&] { return DenseFeedForward<P>(rank, current); };
    switch (current.op.kind) {
        case schedule::OpKind::kFeedForwardNorm:
            run_sublayer_norm(rank, current, feed_forward_of(rank, current), slots_of(rank, current).feed_forward_norm);
            return true;
        case schedule::OpKind::kGateUpProjection: on().gate_up_projection(); return true;
        case schedule::OpKind::kActivation: on().activation(); return true;
        case schedule::OpKind::kDownProjection: on().down_projection(); return true;
        case schedule::OpKind::kResidualAdd: residual_add(rank, current); return true;
        default: return false;
    }
}

template bool run_feed_forward_operation(Rank<Fp32>&, const CurrentOperation&);
template bool run_feed_forward_operation(Rank<Fp64>&, const CurrentOperation&);
template bool run_feed_forward_operation(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_feed_forward_operation(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
