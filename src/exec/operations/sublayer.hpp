#pragma once
/// @file What the operations of both sublayers of a layer, attention and feed-forward, share.
#include "exec/kernels/elementwise.hpp"
#include "exec/kernels/gemm.hpp"
#include "exec/operations/operations.hpp"
#include "exec/state/unit_arrays.hpp"
#include "models/context/windows.hpp"

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

/// Where the operation that runs next at the model's end finds its tensors.
template <class P>
[[nodiscard]] HeadTensors<P>& head_of(Rank<P>& rank, const CurrentOperation& current) {
    return pass_of(rank, current).heads[rank.running.head];
}
/// Of the module whose layer the operation's is.
template <class P>
[[nodiscard]] PredictionTensors<P>& prediction_of(Rank<P>& rank, const CurrentOperation& current) {
    return pass_of(rank, current).predictions[static_cast<std::size_t>(current.op.layer - rank.workload().layers)];
}
/// In front of a prediction module: embeddings are looked up for it, and their gradients given back.
template <class P>
[[nodiscard]] bool in_lookup(Rank<P>& rank, const CurrentOperation& current) {
    const bool predicts = current.op.layer >= rank.workload().layers;
    return predicts && (current.op.phase == schedule::Phase::kForward ? attention_of(rank, current).input.empty()
                                                                      : !rank.running.d_embedding.empty());
}

/// What of the operation's layer the backward pass makes again.
template <class P>
[[nodiscard]] models::Recompute redone_of(const Rank<P>& rank, const CurrentOperation& current) {
    return recompute_of(rank.plan(), static_cast<int>(current.layer_of_chunk()));
}

/// Which sublayer is running: the feed-forward's input exists from the end of attention, forward, to its own end,
/// backward; what its weights have waited for until they have their gradients.
template <class P>
[[nodiscard]] bool in_feed_forward(Rank<P>& rank, const CurrentOperation& current) {
    const FeedForwardTensors<P>& sublayer = feed_forward_of(rank, current);
    return !(current.has_waited() ? sublayer.d_first : sublayer.input).empty();
}

/// AttentionSizes::window of the operation's layer.
template <class P>
[[nodiscard]] std::size_t window_of(const Rank<P>& rank, const CurrentOperation& current) {
    return static_cast<std::size_t>(models::window_of(rank.workload(), current.op.layer));
}

/// A weight of the dense array, and its gradient; null where the model has none.
template <class P>
[[nodiscard]] const typename P::Value* weight_at(const Rank<P>& rank, std::size_t slot) {
    return slot == LayerSlots::kNone ? nullptr : weights_from(rank, false, slot);
}
template <class P>
[[nodiscard]] typename P::Gradient* gradient_at(Rank<P>& rank, std::size_t slot) {
    return slot == LayerSlots::kNone ? nullptr : gradients_from(rank, false, slot);
}
template <class P>
[[nodiscard]] const LayerSlots& slots_of(const Rank<P>& rank, const CurrentOperation& current) {
    return rank.table.layers[static_cast<std::size_t>(current.op.layer)];
}

/// Places in the step's global batch (RoutingRecord) of the tokens that this rank routes in a micro-batch.
template <class P>
[[nodiscard]] std::vector<std::int64_t> routed_tokens_of(const Rank<P>& rank, int micro_batch) {
    return models::tokens_of(routed_tokens(rank.plan(), rank.run->layout, rank.workload().sequence_length,
                                           rank.coordinates.number, micro_batch));
}

/// One operation of a sublayer, with what it reads and writes; `Tensors` are what a pass keeps of the sublayer.
template <class P, class Tensors>
struct SublayerContext {
    using V = typename P::Value;
    using R = typename P::Real;
    Rank<P>& rank;
    const CurrentOperation& current;
    Tensors& tensors;
    const LayerSlots& slots;
    const RankShapes& s;
    RunningValues<P>& running;
    models::Recompute redone;  ///< what the backward pass makes again
    bool recomputes;           ///< all values of this sublayer are among it

    SublayerContext(Rank<P>& on, const CurrentOperation& operation, Tensors& of, bool models::Recompute::*sublayer)
        : rank(on),
          current(operation),
          tensors(of),
          slots(slots_of(on, operation)),
          s(on.shapes),
          running(on.running),
          redone(redone_of(on, operation)),
          recomputes(redone.*sublayer) {}

    [[nodiscard]] bool forward() const { return current.forward(); }
    /// Of a tensor that lives as long as the sublayer is kept, or `part` of it.
    template <class T>
    [[nodiscard]] Buffer<T> kept(std::size_t count, bool models::Recompute::*part = nullptr) const {
        const bool is_redone = recomputes || (part != nullptr && redone.*part);
        return {*rank.arena, label_of(current.op.phase, !is_redone), count};
    }
    template <class T>
    [[nodiscard]] Buffer<T> workspace(std::size_t count) const {
        return {*rank.arena, schedule::MemoryLabel::kWorkspace, count};
    }

    /// After the sublayer's last operation. Recomputed, the output goes, which nobody reads but the feed-forward of a
    /// layer that is recomputed whole. Forward, what is not kept goes; `release_all` resets the tensors that the
    /// backward pass makes again, `release_parts` those of the parts that it does.
    template <class ReleaseAll, class ReleaseParts>
    void finish(bool keeps_gathered_norm, ReleaseAll&& release_all, ReleaseParts&& release_parts) const {
        if (current.op.phase == schedule::Phase::kRecompute) {
            if (!redone.layer || in_feed_forward(rank, current)) {
                running.x.reset();
            }
            return;
        }
        if (!keeps_gathered_norm) {
            tensors.gathered_norm.reset();
        }
        if (redone.norm) {
            tensors.norm.reset();
        }
        if (recomputes) {
            release_all();
        } else {
            release_parts();
        }
    }
};

/// What the first linear layers of a sublayer read, [t, h]: the norm's output, gathered over tp where it is sliced; in
/// a backward pass gathered once more, unless recomputing has just done so.
template <class P, class Tensors>
[[nodiscard]] const typename P::Value* sublayer_input(const Rank<P>& rank, const Tensors& sublayer) {
    if (!rank.running.saved.empty()) {
        return rank.running.saved.data();
    }
    return sublayer.gathered_norm.empty() ? sublayer.norm.data() : sublayer.gathered_norm.data();
}

/// The gradient of what a sublayer's last layer made, [t, h].
template <class P>
[[nodiscard]] const typename P::Value* output_gradient(const Rank<P>& rank) {
    return rank.running.gathered_g.empty() ? rank.running.g.data() : rank.running.gathered_g.data();
}

/// A linear layer's weight, and its bias where the model has one.
struct LinearSlots {
    std::size_t weight = LayerSlots::kNone, bias = LayerSlots::kNone;
};

/// The first linear layer of a sublayer, h to `width`: forward it fills `made`, which the caller has allocated;
/// backward it takes running.upstream, or what has waited, and then releases all that is left of the sublayer.
template <class P, class Tensors>
void run_first_linear(Rank<P>& rank, const CurrentOperation& current, Tensors& sublayer, std::size_t width,
                      const LinearSlots& slots, Buffer<typename P::Value>& made) {
    const RankShapes& s = rank.shapes;
    RunningValues<P>& running = rank.running;
    if (current.forward()) {
        linear_forward(s.t, width, s.h, sublayer_input<P>(rank, sublayer), weight_at(rank, slots.weight), made.data());
        if (slots.bias != LayerSlots::kNone) {
            add_bias(s.t, width, weight_at(rank, slots.bias), made.data());
        }
    } else if (current.op.phase == schedule::Phase::kBackwardInput) {
        running.x = {*rank.arena, schedule::MemoryLabel::kWorkspace, s.t * s.h};
        linear_input_gradient(s.t, width, s.h, running.upstream.data(), weight_at(rank, slots.weight),
                              running.x.data());
    } else {
        const auto& upstream = current.has_waited() ? sublayer.d_first : running.upstream;
        linear_weight_gradient(s.t, width, s.h, upstream.data(), sublayer_input<P>(rank, sublayer),
                               gradient_at(rank, slots.weight));
        if (slots.bias != LayerSlots::kNone) {
            bias_gradient(s.t, width, upstream.data(), gradient_at(rank, slots.bias));
        }
        running.upstream.reset();
        running.saved.reset();
        if (current.has_waited()) {
            sublayer = Tensors{};
        }
    }
}

/// The last linear layer of a sublayer, `width` to h, of `input`: running.x becomes its output, backward the gradient
/// of `input`.
template <class P, class Tensors>
void run_last_linear(Rank<P>& rank, const CurrentOperation& current, const Tensors& sublayer,
                     const Buffer<typename P::Value>& input, std::size_t width, const LinearSlots& slots) {
    const RankShapes& s = rank.shapes;
    RunningValues<P>& running = rank.running;
    if (current.forward()) {
        running.x = {*rank.arena, schedule::MemoryLabel::kWorkspace, s.t * s.h};
        linear_forward(s.t, s.h, width, input.data(), weight_at(rank, slots.weight), running.x.data());
        if (slots.bias != LayerSlots::kNone && rank.coordinates.tp == 0) {  // the sum over tp has it once
            add_bias(s.t, s.h, weight_at(rank, slots.bias), running.x.data());
        }
    } else if (current.op.phase == schedule::Phase::kBackwardInput) {
        running.x = {*rank.arena, schedule::MemoryLabel::kWorkspace, s.t * width};
        linear_input_gradient(s.t, s.h, width, output_gradient(rank), weight_at(rank, slots.weight), running.x.data());
    } else {
        const auto* const gradient = current.has_waited() ? sublayer.d_last.data() : output_gradient(rank);
        linear_weight_gradient(s.t, s.h, width, gradient, input.data(), gradient_at(rank, slots.weight));
        if (slots.bias != LayerSlots::kNone) {
            bias_gradient(s.t, s.h, gradient, gradient_at(rank, slots.bias));
        }
        if (!current.puts_off_weights()) {
            running.gathered_g.reset();
        }
    }
}

/// The norm in front of a sublayer, `slot` its weight: forward or recomputed; backward, where it replaces running.x and
/// releases all that is left of the sublayer but what weights wait for.
template <class P, class Tensors>
void run_sublayer_norm(Rank<P>& rank, const CurrentOperation& current, Tensors& sublayer, std::size_t slot);

}  // namespace auspex::exec
