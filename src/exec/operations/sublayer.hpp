#pragma once
/// @file What the operations of both halves of a layer, attention and feed-forward, share.
#include "exec/kernels/gemm.hpp"
#include "exec/operations/operations.hpp"

namespace auspex::exec {

template <class P>
[[nodiscard]] PassTensors<P>& pass_of(Rank<P>& rank, const CurrentOperation& current) {
    return rank.passes.at({current.block.chunk, current.micro_batch});
}
template <class P>
[[nodiscard]] AttentionTensors<P>& attention_of(Rank<P>& rank, const CurrentOperation& current) {
    return pass_of(rank, current).attention[current.layer_of_chunk()];
}
template <class P>
[[nodiscard]] FeedForwardTensors<P>& feed_forward_of(Rank<P>& rank, const CurrentOperation& current) {
    return pass_of(rank, current).feed_forward[current.layer_of_chunk()];
}

/// Which half of its layer is running: the feed-forward's input exists from the end of the attention half, forward, to
/// the end of the feed-forward half, backward.
template <class P>
[[nodiscard]] bool in_feed_forward(Rank<P>& rank, const CurrentOperation& current) {
    return !feed_forward_of(rank, current).input.empty();
}

/// A weight of the dense array, and its gradient; null where the model has none.
template <class P>
[[nodiscard]] const typename P::Value* weight_at(const Rank<P>& rank, std::size_t slot) {
    return slot == LayerSlots::kNone ? nullptr : rank.weights.dense.data() + slot;
}
template <class P>
[[nodiscard]] typename P::Gradient* gradient_at(Rank<P>& rank, std::size_t slot) {
    return slot == LayerSlots::kNone ? nullptr : rank.weights.dense_gradient.data() + slot;
}
template <class P>
[[nodiscard]] const LayerSlots& slots_of(const Rank<P>& rank, const CurrentOperation& current) {
    return rank.table.layers[static_cast<std::size_t>(current.op.layer)];
}

/// Place in the step's global batch of a micro-batch's first token on this rank (RoutingRecord).
template <class P>
[[nodiscard]] std::int64_t first_token_of(const Rank<P>& rank, int micro_batch) {
    const std::int64_t sequence =
        static_cast<std::int64_t>(rank.coordinates.data) * rank.plan().micro_batches + micro_batch;
    return sequence * static_cast<std::int64_t>(rank.shapes.t);
}

/// What the first linear layers of a half read, [t, h]: the norm's output, gathered over tp where it is sliced; in a
/// backward pass gathered once more, unless recomputing has just done so.
template <class P, class Half>
[[nodiscard]] const typename P::Value* sublayer_input(const Rank<P>& rank, const Half& half) {
    if (!rank.running.saved.empty()) {
        return rank.running.saved.data();
    }
    return half.gathered_norm.empty() ? half.norm.data() : half.gathered_norm.data();
}

/// The gradient of what a half's last layer made, [t, h].
template <class P>
[[nodiscard]] const typename P::Value* output_gradient(const Rank<P>& rank) {
    return rank.running.gathered_g.empty() ? rank.running.g.data() : rank.running.gathered_g.data();
}

/// The first linear layer of a half, h to `width`: forward it fills `made`, which the caller has allocated; backward it
/// takes running.upstream.
template <class P, class Half>
void run_first_linear(Rank<P>& rank, const CurrentOperation& current, const Half& half, std::size_t width,
                      std::size_t slot, Buffer<typename P::Value>& made) {
    const RankShapes& s = rank.shapes;
    RunningValues<P>& running = rank.running;
    if (current.forward()) {
        linear_forward(s.t, width, s.h, sublayer_input<P>(rank, half), weight_at(rank, slot), made.data());
    } else if (current.op.phase == schedule::Phase::kBackwardInput) {
        running.x = {*rank.arena, schedule::MemoryLabel::kWorkspace, s.t * s.h};
        linear_input_gradient(s.t, width, s.h, running.upstream.data(), weight_at(rank, slot), running.x.data());
    } else {
        linear_weight_gradient(s.t, width, s.h, running.upstream.data(), sublayer_input<P>(rank, half),
                               gradient_at(rank, slot));
        running.upstream.reset();
        running.saved.reset();
    }
}

/// The last linear layer of a half, `width` to h, of `input`: running.x becomes its output, backward the gradient of
/// `input`.
template <class P>
void run_last_linear(Rank<P>& rank, const CurrentOperation& current, const Buffer<typename P::Value>& input,
                     std::size_t width, std::size_t slot) {
    const RankShapes& s = rank.shapes;
    RunningValues<P>& running = rank.running;
    if (current.forward()) {
        running.x = {*rank.arena, schedule::MemoryLabel::kWorkspace, s.t * s.h};
        linear_forward(s.t, s.h, width, input.data(), weight_at(rank, slot), running.x.data());
    } else if (current.op.phase == schedule::Phase::kBackwardInput) {
        running.x = {*rank.arena, schedule::MemoryLabel::kWorkspace, s.t * width};
        linear_input_gradient(s.t, s.h, width, output_gradient(rank), weight_at(rank, slot), running.x.data());
    } else {
        linear_weight_gradient(s.t, s.h, width, output_gradient(rank), input.data(), gradient_at(rank, slot));
        running.gathered_g.reset();
    }
}

/// The norm in front of a half, `slot` its weight: forward or recomputed; backward, where it replaces running.x and
/// releases all that is left of the half.
template <class P, class Half>
void run_sublayer_norm(Rank<P>& rank, const CurrentOperation& current, Half& half, std::size_t slot);

}  // namespace auspex::exec
