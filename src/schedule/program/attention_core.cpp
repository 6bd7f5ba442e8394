/// @file Attention itself, and how ranks that share a sequence reach its keys and values.
#include "schedule/program/block_builder.hpp"

namespace auspex::schedule {

AttentionWidths attention_widths(const Shapes& s) {
    const models::Workload& w = s.workload;
    const double heads = w.heads / s.tp, kv_heads = w.kv_heads / s.tp;
    const double normed = w.qk_norm ? (heads + kv_heads) * w.head_size : 0;
    if (w.attention == models::AttentionKind::kLatent) {
        const double qk = w.head_size + w.rope_head_size, key_value = heads * (w.head_size + w.value_head_size);
        return {heads * qk,
                key_value,
                heads * qk,
                heads * w.value_head_size,
                key_value + w.rope_head_size,
                (heads + 1) * w.rope_head_size,
                normed + w.q_rank + w.kv_rank};
    }
    const double query = heads * w.head_size, key_value = 2 * kv_heads * w.head_size;
    const double rotated = w.learned_positions ? 0 : query + key_value / 2;
    return {query, key_value, query, query, key_value, rotated, normed};
}

namespace {

/// A share of causal attention, QK^T and PV over the keys that a token attends to (models::mean_keys): the same for
/// every rank of cp, whose parts of the sequence lie at both ends.
models::Kernel attention_kernel(const Shapes& s, bool backward, double share = 1) {
    const AttentionWidths w = attention_widths(s);
    const double sequence = s.workload.sequence_length;
    models::Kernel kernel;
    kernel.type = models::KernelType::kAttention;
    kernel.m = 2 * mean_keys(s.workload);
    kernel.k = (w.qk + w.value) / (2.0 * s.workload.heads / s.tp);
    kernel.operands = s.plan.weight_bytes == 4 ? models::Operands::kFp32 : models::Operands::kBf16;
    kernel.flop = share * 2 * s.t * mean_keys(s.workload) * (w.qk + w.value) * (backward ? 2 : 1);
    const bool flash = s.stack.kernels.attention == 1;
    kernel.work_flop =
        kernel.flop *
        (backward && flash ? 1.25 : 1);  // flash attention forms the scores once more: 5 products instead of 4
    kernel.launches = s.stack.kernels.attention;
    kernel.bytes = share * s.a * s.t * (w.query + w.key_value + w.value) * (backward ? 2 : 1);
    if (!flash) {
        const double keys = s.workload.image.is_given() ? s.workload.image.window_tokens() : sequence;
        const double scores = s.t * keys * s.workload.heads / s.tp;
        kernel.bytes += share * scores * s.a * s.stack.kernels.attention * (backward ? 2 : 1);
    }
    return kernel;
}

/// Keys and values of a rank's tokens, as they travel; among the ranks of an all-to-all each has those of its heads,
/// and all of what heads share.
double key_value_elements(const Shapes& s) {
    const AttentionWidths w = attention_widths(s);
    return s.t * w.key_value * s.kv_copies + s.t * (w.gathered - w.key_value) * s.context.all_to_all;
}

Value exchange_heads(BlockBuilder& b, OpKind kind, double elements, Value x) {
    const Shapes& s = b.shapes();
    return b.communicate(kind, Stream::kCp, CommKind::kAllToAll, models::GroupKind::kCpAllToAll, s.context.all_to_all,
                         {{elements}}, {x});
}

double query_key_value_elements(const Shapes& s) { return s.t * attention_widths(s).query + key_value_elements(s); }

/// Outputs of parts of the keys become one: each but the first is read with the sum so far, which is written.
models::Kernel merge_parts(const Shapes& s) {
    const double parts = s.context.ring - 1;
    return models::memory_kernel(parts * 3 * s.t * attention_widths(s).value * s.a, parts);
}

/// While ring - 1 parts come round, a rank attends to its own and to those that have come; to the last behind them:
/// together as long as ring steps of which each takes the longer of a part's attention and its way. Backward the
/// gradients of keys and values go with them, and home at the end.
Value attend_in_ring(BlockBuilder& b, Value x, bool backward) {
    const Shapes& s = b.shapes();
    const double ring = s.context.ring, elements = key_value_elements(s);
    const auto pass_on = [&](double times, Value from, const CommTraits& traits) {
        return b.communicate(OpKind::kKeyValueRing, Stream::kCp, CommKind::kShift, models::GroupKind::kCpRing,
                             s.context.ring, {{times * elements}}, {from}, traits);
    };
    const Value came = pass_on(backward ? 2 : 1, x, {.repeat = s.context.ring - 1, .beside = true});
    const models::Kernel others = attention_kernel(s, backward, (ring - 1) / ring);
    std::vector<models::Kernel> parts{others};
    parts.front().launches *= ring - 1;
    if (!backward) {
        parts.push_back(merge_parts(s));
    }
    const Value so_far = b.compute(OpKind::kAttentionOfOthers, {x}, std::span<const models::Kernel>(parts));
    const Value all = b.compute(OpKind::kAttention, {so_far, came}, {attention_kernel(s, backward, 1 / ring)});
    return backward ? pass_on(1, all, {}) : all;
}

}  // namespace

Value shift_windows(BlockBuilder& b, int layer, Value x) {
    const Shapes& s = b.shapes();
    if (layer == 0 || s.moved == 0) {
        return x;
    }
    return b.communicate(OpKind::kWindowShift, Stream::kCp, CommKind::kShift, models::GroupKind::kCpRing,
                         s.context.windows, {{s.moved * s.t_norm * s.h}}, {x});
}

Value attend_core(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const bool gathers = s.plan.context == models::ContextParallel::kAllGather;
    x = b.communicate(OpKind::kKeyValueGather, Stream::kCp, CommKind::kAllGather, models::GroupKind::kCp,
                      gathers ? s.plan.cp : 1, {{s.t * s.plan.cp * attention_widths(s).gathered}}, {x});
    return s.context.ring > 1 ? attend_in_ring(b, x, false)
                              : b.compute(OpKind::kAttention, {x}, {attention_kernel(s, false)});
}

Value attend(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    x = exchange_heads(b, OpKind::kTokensToHeads, query_key_value_elements(s), x);
    x = attend_core(b, x);
    return exchange_heads(b, OpKind::kHeadsToTokens, s.t * attention_widths(s).value, x);
}

Value attend_backward(BlockBuilder& b, Value g) {
    const Shapes& s = b.shapes();
    const bool gathers = s.plan.context == models::ContextParallel::kAllGather;
    g = exchange_heads(b, OpKind::kTokensToHeads, s.t * attention_widths(s).value, g);
    g = s.context.ring > 1 ? attend_in_ring(b, g, true)
                           : b.compute(OpKind::kAttention, {g}, {attention_kernel(s, true)});
    g = exchange_heads(b, OpKind::kHeadsToTokens, query_key_value_elements(s), g);
    return b.communicate(OpKind::kKeyValueGather, Stream::kCp, CommKind::kReduceScatter, models::GroupKind::kCp,
                         gathers ? s.plan.cp : 1, {{s.t * s.plan.cp * attention_widths(s).gathered}}, {g});
}

}  // namespace auspex::schedule
