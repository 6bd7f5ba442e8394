/// @file The operations of a transformer layer: attention and dense feed-forward, forward and backward.
#include "schedule/block_builder.hpp"

namespace auspex {

Kernel linear_forward(const Shapes& s, double m, double n, double k, double copies) {
    Kernel kernel = gemm_kernel(m, n, k, s.a);
    kernel.flop /= copies;
    return kernel;
}

Kernel linear_input_gradient(const Shapes& s, double m, double n, double k, double copies) {
    return linear_forward(s, m, k, n, copies);
}

std::vector<Kernel> linear_weight_gradient(const Shapes& s, double m, double n, double k, double groups,
                                           double copies) {
    std::vector<Kernel> kernels{gemm_kernel(k, n, m, s.a, groups)};
    kernels.front().flop /= copies;
    if (s.stack.kernels.gradient_accumulation > 0 && s.plan.micro_batches > 1) {
        const double passes = s.stack.kernels.gradient_accumulation;
        kernels.push_back(memory_kernel(3 * passes * groups * k * n * s.plan.gradient_bytes, passes));
    }
    return kernels;
}

namespace {

/// Element-wise work of `passes` kernels, each moving `bytes`; backwards the framework issues more of them.
Kernel passes(const Shapes& s, const BlockBuilder& builder, int count, double bytes) {
    const bool backward = builder.phase() == Phase::kBackwardInput;
    const double kernels = count * (backward && count > 1 ? s.stack.backward_launch_ratio : 1);
    return memory_kernel(kernels * bytes * (backward && count == 1 ? 1.5 : 1), kernels);
}

/// Width of the queries, keys and values that one rank makes, and of what it attends with.
struct AttentionWidths {
    double query, key_value, qk, value;
};

AttentionWidths widths_of(const Shapes& s) {
    const Workload& w = s.workload;
    const double heads = w.heads / s.tp;
    if (w.attention == AttentionKind::kLatent) {
        const double qk = w.head_size + w.rope_head_size;
        return {heads * qk, heads * (w.head_size + w.value_head_size), heads * qk, heads * w.value_head_size};
    }
    return {heads * w.head_size, 2.0 * w.kv_heads / s.tp * w.head_size, heads * w.head_size, heads * w.head_size};
}

/// FLOP of causal attention: QK^T and PV over half of S x S.
Kernel attention_kernel(const Shapes& s, bool backward) {
    const AttentionWidths w = widths_of(s);
    const double sequence = s.workload.sequence_length;
    Kernel kernel;
    kernel.type = KernelType::kAttention;
    kernel.flop = s.t * sequence * (w.qk + w.value) * (backward ? 2 : 1);
    const bool flash = s.stack.kernels.attention == 1;
    kernel.work_flop =
        kernel.flop *
        (backward && flash ? 1.25 : 1);  // flash attention forms the scores once more: 5 products instead of 4
    kernel.launches = s.stack.kernels.attention;
    kernel.bytes = s.a * s.t * (w.query + w.key_value + w.value) * (backward ? 2 : 1);
    if (!flash) {
        const double scores = s.t * sequence * s.workload.heads / s.tp;
        kernel.bytes += scores * s.a * s.stack.kernels.attention * (backward ? 2 : 1);
    }
    return kernel;
}

/// The sum over tp of a row-parallel layer's output, or its scatter along the sequence.
Value reduce_over_tp(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const bool scatter = s.plan.sequence_parallel;
    return b.communicate(scatter ? OpKind::kTpReduceScatter : OpKind::kTpAllReduce, Stream::kTp,
                         scatter ? CommKind::kReduceScatter : CommKind::kAllReduce, GroupKind::kTp, s.plan.tp,
                         s.t * s.h * s.a, {x});
}

/// The sequence gathered over tp where sequence parallelism has split it.
Value gather_over_tp(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    return s.plan.sequence_parallel ? b.communicate(OpKind::kTpAllGather, Stream::kTp, CommKind::kAllGather,
                                                    GroupKind::kTp, s.plan.tp, s.t * s.h * s.a, {x})
                                    : x;
}

/// Backward of gather_over_tp, or of the copy into column-parallel layers.
Value reduce_input_gradient_over_tp(BlockBuilder& b, Value x) { return reduce_over_tp(b, x); }

/// One linear layer of the attention block: name, rows are s.t, columns, depth.
struct Linear {
    OpKind kind;
    double n, k;
    double copies = 1;  ///< ranks of a tp group that do all of it
};

std::vector<Linear> projections_of(const Shapes& s) {
    const Workload& w = s.workload;
    const AttentionWidths widths = widths_of(s);
    if (w.attention == AttentionKind::kMultiHead) {
        return {{OpKind::kQkvProjection, widths.query + widths.key_value, s.h}};
    }
    std::vector<Linear> list;
    if (w.q_rank > 0) {
        list.push_back({OpKind::kQueryDown, static_cast<double>(w.q_rank), s.h, s.tp});
    }
    list.push_back({OpKind::kQueryUp, widths.query, w.q_rank > 0 ? static_cast<double>(w.q_rank) : s.h});
    list.push_back({OpKind::kKeyValueDown, static_cast<double>(w.kv_rank + w.rope_head_size), s.h, s.tp});
    list.push_back({OpKind::kKeyValueUp, widths.key_value, static_cast<double>(w.kv_rank)});
    return list;
}

double norm_bytes(const Shapes& s) { return 2 * s.t_norm * s.h * s.a; }
double rotated_bytes(const Shapes& s) {
    return 2 * s.t * widths_of(s).query * s.a * (1 + static_cast<double>(s.workload.kv_heads) / s.workload.heads);
}

Value norm(BlockBuilder& b, OpKind kind, Value x) {
    return b.compute(kind, {x}, {passes(b.shapes(), b, b.shapes().stack.kernels.norm, norm_bytes(b.shapes()))});
}

Value residual(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    return b.compute(OpKind::kResidualAdd, {x}, {memory_kernel(3 * s.t_norm * s.h * s.a, s.stack.kernels.residual)});
}

Value attention_inner_forward(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    x = gather_over_tp(b, x);
    for (const Linear& linear : projections_of(s)) {
        x = b.compute(linear.kind, {x}, {linear_forward(s, s.t, linear.n, linear.k, linear.copies)});
    }
    if (s.workload.qk_norm) {
        x = b.compute(OpKind::kQkNorm, {x}, {passes(s, b, s.stack.kernels.qk_norm, rotated_bytes(s))});
    }
    if (!s.workload.learned_positions) {
        x = b.compute(OpKind::kRotaryEmbedding, {x}, {passes(s, b, s.stack.kernels.rope, rotated_bytes(s))});
    }
    x = b.communicate(OpKind::kKeyValueGather, Stream::kCp, CommKind::kAllGather, GroupKind::kCp, s.plan.cp,
                      s.t * s.plan.cp * widths_of(s).key_value * s.a, {x});
    x = b.compute(OpKind::kAttention, {x}, {attention_kernel(s, false)});
    return b.compute(OpKind::kAttentionOutput, {x}, {linear_forward(s, s.t, s.h, widths_of(s).value)});
}

Value dense_inner_forward(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const double width = s.workload.intermediate_size / s.tp;
    const double gates = s.workload.feed_forward == FeedForward::kSwiGlu ? 2 : 1;
    x = gather_over_tp(b, x);
    x = b.compute(OpKind::kGateUpProjection, {x}, {linear_forward(s, s.t, gates * width, s.h)});
    x = b.compute(OpKind::kActivation, {x},
                  {passes(s, b, s.stack.kernels.activation, (gates + 1) * s.t * width * s.a)});
    return b.compute(OpKind::kDownProjection, {x}, {linear_forward(s, s.t, s.h, width)});
}

/// Backward of one linear layer: the gradient of its input, then that of its weight. Returns the former.
Value linear_backward(BlockBuilder& b, const Linear& linear, Value gradient) {
    const Shapes& s = b.shapes();
    const Value input =
        b.compute(linear.kind, {gradient}, {linear_input_gradient(s, s.t, linear.n, linear.k, linear.copies)});
    b.set_phase(Phase::kBackwardWeight);
    b.compute(linear.kind, {gradient}, linear_weight_gradient(s, s.t, linear.n, linear.k, 1, linear.copies));
    b.set_phase(Phase::kBackwardInput);
    return input;
}

/// The same where the input gradient must be summed over tp: the sum starts before the weight gradient, so that it can
/// hide behind it.
Value column_parallel_backward(BlockBuilder& b, const Linear& linear, Value gradient) {
    const Shapes& s = b.shapes();
    Value input =
        b.compute(linear.kind, {gradient}, {linear_input_gradient(s, s.t, linear.n, linear.k, linear.copies)});
    input = reduce_input_gradient_over_tp(b, input);
    b.set_phase(Phase::kBackwardWeight);
    b.compute(linear.kind, {gradient}, linear_weight_gradient(s, s.t, linear.n, linear.k, 1, linear.copies));
    b.set_phase(Phase::kBackwardInput);
    return input;
}

Value dense_inner_backward(BlockBuilder& b, Value g) {
    const Shapes& s = b.shapes();
    const double width = s.workload.intermediate_size / s.tp;
    const double gates = s.workload.feed_forward == FeedForward::kSwiGlu ? 2 : 1;
    g = gather_over_tp(b, g);
    g = linear_backward(b, {OpKind::kDownProjection, s.h, width}, g);
    g = b.compute(OpKind::kActivation, {g},
                  {passes(s, b, s.stack.kernels.activation, (gates + 1) * s.t * width * s.a)});
    return column_parallel_backward(b, {OpKind::kGateUpProjection, gates * width, s.h}, g);
}

Value attention_inner_backward(BlockBuilder& b, Value g) {
    const Shapes& s = b.shapes();
    g = gather_over_tp(b, g);
    g = linear_backward(b, {OpKind::kAttentionOutput, s.h, widths_of(s).value}, g);
    g = b.compute(OpKind::kAttention, {g}, {attention_kernel(s, true)});
    g = b.communicate(OpKind::kKeyValueGather, Stream::kCp, CommKind::kReduceScatter, GroupKind::kCp, s.plan.cp,
                      s.t * s.plan.cp * widths_of(s).key_value * s.a, {g});
    if (!s.workload.learned_positions) {
        g = b.compute(OpKind::kRotaryEmbedding, {g}, {passes(s, b, s.stack.kernels.rope, rotated_bytes(s))});
    }
    if (s.workload.qk_norm) {
        g = b.compute(OpKind::kQkNorm, {g}, {passes(s, b, s.stack.kernels.qk_norm, rotated_bytes(s))});
    }
    const std::vector<Linear> projections = projections_of(s);
    for (std::size_t i = projections.size(); i-- > 0;) {
        g = i == 0 ? column_parallel_backward(b, projections[i], g) : linear_backward(b, projections[i], g);
    }
    return g;
}

/// The sum of the gradients through a branch and past it.
Value branch_sum(BlockBuilder& b, Value through, Value past) {
    const Shapes& s = b.shapes();
    return b.compute(OpKind::kResidualAdd, {through, past},
                     {memory_kernel(3 * s.t_norm * s.h * s.a, s.stack.kernels.residual)});
}

/// Runs `forward` once more in front of its backward; the activations it makes again are what the backward waits for.
template <typename Forward>
void recompute(BlockBuilder& b, Forward&& forward) {
    b.set_phase(Phase::kRecompute);
    forward();
    b.set_phase(Phase::kBackwardInput);
}

/// Tokens on their way into the experts: the etp ranks that split an expert all need the same t_routed of them. Where
/// tp has already given every rank all t, a group of fewer ranks takes its slice.
Value enter_experts(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    if (s.plan.etp == s.plan.tp) {
        return gather_over_tp(b, x);
    }
    return s.plan.sequence_parallel || s.plan.etp > s.plan.tp
               ? b.communicate(OpKind::kTpAllGather, Stream::kTp, CommKind::kAllGather, GroupKind::kEtp, s.plan.etp,
                               s.t_routed * s.h * s.a, {x})
               : x;
}

/// And out: the parts of an expert summed, and the tp ranks' slices put together again.
Value leave_experts(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    if (s.plan.etp == s.plan.tp) {
        return reduce_over_tp(b, x);
    }
    x = b.communicate(OpKind::kTpReduceScatter, Stream::kTp, CommKind::kReduceScatter, GroupKind::kEtp, s.plan.etp,
                      s.t_routed * s.h * s.a, {x});
    return s.plan.sequence_parallel ? x
                                    : b.communicate(OpKind::kTpAllGather, Stream::kTp, CommKind::kAllGather,
                                                    GroupKind::kTp, s.plan.tp, s.t * s.h * s.a, {x});
}

Value mixture_forward(BlockBuilder& b, Value x) { return experts_forward(b, enter_experts(b, x)); }

}  // namespace

Value attention_forward(BlockBuilder& b, Value x) {
    x = norm(b, OpKind::kAttentionNorm, x);
    x = attention_inner_forward(b, x);
    return residual(b, reduce_over_tp(b, x));
}

Value feed_forward_forward(BlockBuilder& b, int layer, Value x) {
    x = norm(b, OpKind::kFeedForwardNorm, x);
    if (b.shapes().workload.is_moe_layer(layer)) {
        return residual(b, leave_experts(b, mixture_forward(b, x)));
    }
    return residual(b, reduce_over_tp(b, dense_inner_forward(b, x)));
}

Value feed_forward_backward(BlockBuilder& b, int layer, Value gradient) {
    const Plan& plan = b.shapes().plan;
    const bool mixture = b.shapes().workload.is_moe_layer(layer);
    if (plan.recompute_norm) {
        recompute(b, [&] { norm(b, OpKind::kFeedForwardNorm, kNoValue); });
    }
    if (plan.recompute_expert) {
        recompute(b, [&] { mixture ? mixture_forward(b, kNoValue) : dense_inner_forward(b, kNoValue); });
    }
    Value g = gradient;
    if (mixture) {
        g = leave_experts(b, experts_backward(b, enter_experts(b, g)));
    } else {
        g = dense_inner_backward(b, g);
    }
    g = norm(b, OpKind::kFeedForwardNorm, g);
    return branch_sum(b, g, gradient);
}

Value attention_backward(BlockBuilder& b, Value gradient) {
    const Plan& plan = b.shapes().plan;
    if (plan.recompute_norm) {
        recompute(b, [&] { norm(b, OpKind::kAttentionNorm, kNoValue); });
    }
    if (plan.recompute_attention) {
        recompute(b, [&] { attention_inner_forward(b, kNoValue); });
    }
    Value g = attention_inner_backward(b, gradient);
    g = norm(b, OpKind::kAttentionNorm, g);
    return branch_sum(b, g, gradient);
}

}  // namespace auspex
