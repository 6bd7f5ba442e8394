/// @file The operations of a transformer layer: attention and dense feed-forward, forward and backward.
#include "schedule/program/block_builder.hpp"

namespace auspex::schedule {

namespace {

/// Element-wise work of `passes` kernels, each moving `bytes`; backwards the framework issues more of them.
models::Kernel passes(const Shapes& s, const BlockBuilder& builder, int count, double bytes) {
    const bool backward = builder.phase() == Phase::kBackwardInput;
    const double kernels = count * (backward && count > 1 ? s.stack.backward_launch_ratio : 1);
    return models::memory_kernel(kernels * bytes * (backward && count == 1 ? 1.5 : 1), kernels);
}

/// One linear layer of the attention block: name, rows are s.t, columns, depth.
struct Linear {
    OpKind kind;
    double n, k;
    double copies = 1;       ///< ranks of a tp group that do all of it
    bool from_norm = false;  ///< reads the norm's output, gathered over tp
};

std::vector<Linear> projections_of(const Shapes& s) {
    const models::Workload& w = s.workload;
    const AttentionWidths widths = attention_widths(s);
    if (w.attention == models::AttentionKind::kMultiHead) {
        return {{OpKind::kQkvProjection, widths.query + widths.key_value, s.h, 1, true}};
    }
    std::vector<Linear> list;
    const double q_rank = w.q_rank, kv_rank = w.kv_rank;
    if (w.q_rank > 0) {
        list.push_back({OpKind::kQueryDown, q_rank, s.h, s.tp, true});
    }
    list.push_back({OpKind::kKeyValueDown, kv_rank + w.rope_head_size, s.h, s.tp, true});
    list.push_back({OpKind::kQueryUp, widths.query, w.q_rank > 0 ? q_rank : s.h, 1, w.q_rank == 0});
    list.push_back({OpKind::kKeyValueUp, widths.key_value, kv_rank});
    return list;
}

/// Projections in front of the norms: those down to the latents, or the one of queries and keys.
std::size_t projections_before_norm(const Shapes& s) {
    const bool latent = s.workload.attention == models::AttentionKind::kLatent;
    return !latent || s.workload.q_rank == 0 ? 1 : 2;
}

double norm_bytes(const Shapes& s) { return 2 * s.t_norm * s.h * s.a; }

/// Queries and keys are normalised over all heads together, of which a tp rank has a part: forward the sums of squares,
/// backward those of products of values and gradients, two numbers a token.
Value qk_norm_sums(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    if (!s.workload.qk_norm || s.plan.tp == 1) {
        return x;
    }
    const double tensors_read = b.phase() == Phase::kBackwardInput ? 2 : 1;
    x = b.compute(OpKind::kQkNormSums, {x},
                  {models::memory_kernel(tensors_read * s.t * attention_widths(s).normed * s.a, 1)});
    return b.communicate(OpKind::kTpAllReduce, Stream::kTp, CommKind::kAllReduce, models::GroupKind::kTp, s.plan.tp,
                         {{s.t * 2, ElementType::kFp32}}, {x}, {.carries = Carries::kQkNormSums});
}

/// Norms of queries and keys or of the latents, and rotary embedding; nothing where the model has none.
Value qk_norm(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const double bytes = 2 * s.t * attention_widths(s).normed * s.a;
    return bytes > 0 ? b.compute(OpKind::kQkNorm, {qk_norm_sums(b, x)},
                                 {passes(s, b, norm_count(s, s.stack.kernels.qk_norm), bytes)})
                     : x;
}
/// Recomputed by itself from the latents: without the key that heads share, which is kept rotated.
Value rotate(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const bool is_part = b.phase() == Phase::kRecompute && b.recompute().latent_up;
    const double width = attention_widths(s).rotated - (is_part ? s.workload.rope_head_size : 0);
    const double bytes = 2 * s.t * width * s.a;
    return bytes > 0 ? b.compute(OpKind::kRotaryEmbedding, {x}, {passes(s, b, s.stack.kernels.rope, bytes)}) : x;
}

/// Weights of the modulation that a rank has (Image::adaptive_norm).
double modulation_weights(const Shapes& s) { return s.workload.image.adaptive_norm ? 6 * s.h * s.h / s.tp : 0; }

/// One vector a sequence times these weights, bound by reading them; backward their gradient is made and added, too.
/// The FLOP, 12 H^2 a sequence, are not counted. Ignores: the sum of the vector's gradients over cp.
Value modulate(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const double weights = modulation_weights(s);
    if (weights == 0) {
        return x;
    }
    const Value product = b.compute(OpKind::kModulation, {x}, {models::memory_kernel(weights * s.a, 1)});
    if (b.phase() == Phase::kBackwardInput) {
        const double passes_added = s.plan.micro_batches > 1 ? s.stack.kernels.gradient_accumulation : 0;
        b.set_phase(Phase::kBackwardWeight);
        b.compute(
            OpKind::kModulation, {x},
            {models::memory_kernel(weights * (s.a + 3 * passes_added * s.plan.gradient_bytes), 1 + passes_added)});
        b.set_phase(Phase::kBackwardInput);
    }
    return product;
}

/// Scaled and shifted in a pass more where the model does that.
Value norm(BlockBuilder& b, OpKind kind, Value x) {
    const Shapes& s = b.shapes();
    const int count = norm_count(s, s.stack.kernels.norm) + (s.workload.image.adaptive_norm ? 1 : 0);
    return b.compute(kind, {x}, {passes(s, b, count, norm_bytes(s))});
}

/// Of `tensors` more that gates read or write, each in a pass of two.
std::vector<models::Kernel> sum_with_gates(const Shapes& s, double tensors) {
    std::vector<models::Kernel> kernels{models::memory_kernel(3 * s.t_norm * s.h * s.a, s.stack.kernels.residual)};
    if (s.workload.image.adaptive_norm) {
        kernels.push_back(models::memory_kernel(tensors * s.t_norm * s.h * s.a, tensors / 2));
    }
    return kernels;
}

Value residual(BlockBuilder& b, Value x) { return b.compute(OpKind::kResidualAdd, {x}, sum_with_gates(b.shapes(), 2)); }

/// From the latents up to queries, keys and values, once more.
void project_up(BlockBuilder& b) {
    const Shapes& s = b.shapes();
    const std::vector<Linear> projections = projections_of(s);
    Value x = kNoValue;
    for (std::size_t i = projections_before_norm(s); i < projections.size(); ++i) {
        x = b.compute(projections[i].kind, {x}, {linear_forward(s, s.t, projections[i].n, projections[i].k)});
    }
    rotate(b, x);
}

Value attention_inner_forward(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    x = gather_before_product(b, x);
    const std::vector<Linear> projections = projections_of(s);
    for (std::size_t i = 0; i < projections.size(); ++i) {
        const Linear& linear = projections[i];
        x = b.compute(linear.kind, {x}, {linear_forward(s, s.t, linear.n, linear.k, linear.copies)});
        x = i + 1 == projections_before_norm(s) ? qk_norm(b, x) : x;
    }
    x = rotate(b, x);
    x = attend(b, x);
    return b.compute(OpKind::kAttentionOutput, {x}, {linear_forward(s, s.t, s.h, attention_widths(s).value)});
}

Value dense_activation(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const double width = s.workload.intermediate_size / s.tp, tensors = s.workload.gates() + 1;
    return b.compute(OpKind::kActivation, {x}, {passes(s, b, s.stack.kernels.activation, tensors * s.t * width * s.a)});
}

Value dense_inner_forward(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const double width = s.workload.intermediate_size / s.tp;
    const double gates = s.workload.gates();
    x = gather_before_product(b, x);
    x = b.compute(OpKind::kGateUpProjection, {x}, {linear_forward(s, s.t, gates * width, s.h)});
    x = dense_activation(b, x);
    return b.compute(OpKind::kDownProjection, {x}, {linear_forward(s, s.t, s.h, width)});
}

/// Sequence parallelism keeps only the rank's slice of a sublayer's input; unless recomputing has just gathered it, the
/// weight gradients of its first layers need it gathered once more.
Value saved_input(BlockBuilder& b, Value after, bool recomputed) {
    const models::Plan& plan = b.shapes().plan;
    if (!plan.sequence_parallel || plan.tp == 1 || (recomputed && !b.splits_backward())) {
        return kNoValue;
    }
    b.set_phase(b.splits_backward() ? Phase::kBackwardWeight : Phase::kBackwardInput);
    const Value gathered = gather_over_tp(b, after, Carries::kSavedInput);
    b.set_phase(Phase::kBackwardInput);
    return gathered;
}

/// Backward of one linear layer: the gradient of its input, then that of its weight. Returns the former. The `first`
/// of a sublayer sums its input gradient over tp; the sum starts before the weight gradient, so that it can hide behind
/// it.
Value linear_backward(BlockBuilder& b, const Linear& linear, Value gradient, Value saved = kNoValue,
                      bool first = false) {
    const Shapes& s = b.shapes();
    Value input =
        b.compute(linear.kind, {gradient}, {linear_input_gradient(s, s.t, linear.n, linear.k, linear.copies)});
    input = first ? reduce_behind_product(b, input) : input;
    b.set_phase(Phase::kBackwardWeight);
    b.compute(linear.kind, {gradient, linear.from_norm ? saved : kNoValue},
              linear_weight_gradient(s, s.t, linear.n, linear.k, 1, linear.copies));
    b.set_phase(Phase::kBackwardInput);
    return input;
}

Value dense_inner_backward(BlockBuilder& b, Value g) {
    const Shapes& s = b.shapes();
    const double width = s.workload.intermediate_size / s.tp;
    const double gates = s.workload.gates();
    g = gather_before_product(b, g);
    g = linear_backward(b, {OpKind::kDownProjection, s.h, width}, g);
    g = dense_activation(b, g);
    const Value saved = saved_input(b, g, b.recompute().expert);
    return linear_backward(b, {OpKind::kGateUpProjection, gates * width, s.h, 1, true}, g, saved, true);
}

Value attention_inner_backward(BlockBuilder& b, Value g) {
    const Shapes& s = b.shapes();
    g = gather_before_product(b, g);
    g = linear_backward(b, {OpKind::kAttentionOutput, s.h, attention_widths(s).value}, g);
    g = attend_backward(b, g);
    g = rotate(b, g);
    const Value saved = saved_input(b, g, b.recompute().attention);
    const std::vector<Linear> projections = projections_of(s);
    for (std::size_t i = projections.size(); i-- > 0;) {
        g = i + 1 == projections_before_norm(s) ? qk_norm(b, g) : g;
        g = linear_backward(b, projections[i], g, saved, i == 0);
    }
    return g;
}

/// The sum of the gradients through a branch and past it.
Value branch_sum(BlockBuilder& b, Value through, Value past) {
    return b.compute(OpKind::kResidualAdd, {through, past}, sum_with_gates(b.shapes(), 4));
}

/// Runs `forward` once more in front of its backward; the activations it makes again are what the backward waits for.
template <typename Forward>
void recompute(BlockBuilder& b, Forward&& forward) {
    b.set_phase(Phase::kRecompute);
    forward();
    b.set_phase(Phase::kBackwardInput);
}

/// Recompute::alternate_products of both sublayers. Ignores: tokens gathered over tp once more.
void alternate_attention_products(BlockBuilder& b) {
    const Shapes& s = b.shapes();
    const AttentionWidths widths = attention_widths(s);
    const bool is_latent = s.workload.attention == models::AttentionKind::kLatent;
    is_latent ? b.compute(OpKind::kKeyValueUp, {}, {linear_forward(s, s.t, widths.key_value, s.workload.kv_rank)})
              : b.compute(OpKind::kQkvProjection, {}, {linear_forward(s, s.t, widths.key_value / 2, s.h)});
    rotate(b, kNoValue);
    b.compute(OpKind::kAttentionOutput, {}, {linear_forward(s, s.t, s.h, widths.value)});
}

void alternate_feed_forward_product(BlockBuilder& b) {
    const Shapes& s = b.shapes();
    b.compute(OpKind::kGateUpProjection, {}, {linear_forward(s, s.t, s.workload.intermediate_size / s.tp, s.h)});
}

}  // namespace

Value attention_forward(BlockBuilder& b, Value x) {
    x = norm(b, OpKind::kAttentionNorm, modulate(b, x));
    x = attention_inner_forward(b, x);
    return residual(b, reduce_behind_product(b, x));
}

Value feed_forward_forward(BlockBuilder& b, int layer, Value x) {
    x = norm(b, OpKind::kFeedForwardNorm, x);
    if (b.shapes().workload.is_moe_layer(layer)) {
        return residual(b, experts_forward(b, x));
    }
    return residual(b, reduce_behind_product(b, dense_inner_forward(b, x)));
}

Value feed_forward_backward(BlockBuilder& b, int layer, Value gradient) {
    const models::Recompute& redone = b.recompute();
    const bool mixture = b.shapes().workload.is_moe_layer(layer);
    if (redone.layer) {
        recompute(b, [&] { attention_forward(b, kNoValue); });
    }
    if (redone.norm) {
        recompute(b, [&] { norm(b, OpKind::kFeedForwardNorm, kNoValue); });
    }
    if (redone.expert) {
        recompute(b, [&] { mixture ? experts_forward(b, kNoValue) : dense_inner_forward(b, kNoValue); });
    }
    if (redone.shared_experts && mixture) {
        recompute(b, [&] { recompute_shared_experts(b); });
    }
    if (redone.alternate_products && !mixture) {
        recompute(b, [&] { alternate_feed_forward_product(b); });
    }
    if (redone.activation) {
        recompute(b, [&] { mixture ? recompute_expert_activation(b) : void(dense_activation(b, kNoValue)); });
    }
    Value g = mixture ? experts_backward(b, gradient) : dense_inner_backward(b, gradient);
    g = norm(b, OpKind::kFeedForwardNorm, g);
    return branch_sum(b, g, gradient);
}

Value attention_backward(BlockBuilder& b, Value gradient) {
    const models::Recompute& redone = b.recompute();
    if (redone.norm && !redone.layer) {  // the feed-forward's backward has made all of a layer again
        recompute(b, [&] { norm(b, OpKind::kAttentionNorm, kNoValue); });
    }
    if (redone.attention && !redone.layer) {
        recompute(b, [&] { attention_inner_forward(b, kNoValue); });
    }
    if (redone.alternate_products) {
        recompute(b, [&] { alternate_attention_products(b); });
    }
    if (redone.latent_up) {
        recompute(b, [&] { project_up(b); });
    }
    if (redone.core_attention) {
        recompute(b, [&] { attend_core(b, kNoValue); });
    }
    Value g = attention_inner_backward(b, gradient);
    g = modulate(b, norm(b, OpKind::kAttentionNorm, g));
    return branch_sum(b, g, gradient);
}

}  // namespace auspex::schedule
