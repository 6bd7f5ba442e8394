/// @file The kernel calls of attention over cp ranks (exec/operations/context_attention.cpp).
#include "models/context/windows.hpp"
#include "schedule/kernel_calls/call_lists.hpp"

namespace auspex::schedule {
namespace {

using Calls = std::vector<models::CpuCall>;

/// Sizes on a rank whose rows have the heads that attend here.
struct ContextWidths {
    const LocalShapes& z;
    bool latent;
    double split, ring;
    double rows;               ///< of queries
    double query, value;       ///< of a row
    std::vector<double> keys;  ///< columns that are copied at a time: keys, values; latents: both, shared
    double all_keys = 0;       ///< their sum
    bool keys_share;           ///< several ranks attend to the same heads of keys

    explicit ContextWidths(const LocalShapes& sizes)
        : z(sizes),
          latent(z.s.workload.attention == models::AttentionKind::kLatent),
          split(z.s.context.all_to_all),
          ring(z.s.context.ring),
          rows(z.s.t * split),
          query(z.attention.query / split),
          value(z.attention.value / split),
          keys_share(!latent && z.s.kv_copies > 1) {
        const double own = z.attention.key_value / split * (latent ? 1 : z.s.kv_copies / 2);
        keys = {own, latent ? z.s.workload.rope_head_size : own};
        for (const double width : keys) {
            all_keys += width;
        }
    }
    [[nodiscard]] bool exchanges() const { return split > 1; }
};

models::CpuCall copy(const ContextWidths& c, double rows, double width) {
    return flat_call(models::CpuKernel::kCopy, rows * width * c.z.w);
}
models::CpuCall check(double elements) { return flat_call(models::CpuKernel::kFiniteCheck, elements); }

void append(Calls& calls, models::CpuCall call, double times) {
    call.repeat = times;
    if (times > 0 && call.columns > 0) {
        calls.push_back(call);
    }
}
void append_keys(Calls& calls, const ContextWidths& c, double rows, double times) {
    for (const double width : c.keys) {
        append(calls, copy(c, rows, width), times);
    }
}

/// Into keys, values and their gradients of the rank's own tokens, from what lies as it travels.
void append_home(Calls& calls, const ContextWidths& c) { append_keys(calls, c, c.z.s.t, 1); }

void key_value_gather(OperationCalls& calls, const ContextWidths& c, const Operation& op) {
    const double own = c.z.s.t * c.all_keys;
    if (runs_forward(op)) {
        append_keys(calls.before, c, c.z.s.t, 1);
        calls.before.push_back(check(own));
    } else {
        calls.before = {check(own * c.z.s.plan.cp)};
        append_home(calls.after, c);
    }
}

void tokens_to_heads(OperationCalls& calls, const ContextWidths& c, const Operation& op) {
    if (runs_forward(op)) {
        append(calls.before, copy(c, c.z.s.t, c.query), c.split);
        append_keys(calls.before, c, c.z.s.t, c.split);
        calls.before.push_back(check(c.rows * (c.query + c.all_keys)));
    } else {
        append(calls.before, copy(c, c.z.s.t, c.value), c.split);
        calls.before.push_back(check(c.rows * c.value));
    }
}

/// Backward gradients of keys that several ranks attend to are added up: of a head of keys the first is copied.
void heads_to_tokens(OperationCalls& calls, const ContextWidths& c, const Operation& op) {
    const double t = c.z.s.t;
    if (runs_forward(op)) {
        calls.before = {check(c.rows * c.value)};
        append(calls.after, copy(c, t, c.value), c.split);
        return;
    }
    calls.before = {check(c.rows * (c.query + c.all_keys))};
    append(calls.after, copy(c, t, c.query), c.split);
    const double heads = c.keys_share ? c.split / c.z.s.kv_copies : c.split;
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        const double copied = c.latent && i == 1 ? 1 : heads;
        append(calls.after, copy(c, t, c.keys[i]), copied);
        append(calls.after, flat_call(models::CpuKernel::kAdd, t * c.keys[i]), c.split - copied);
    }
}

/// Before the first part leaves; or, behind all, when gradients have come home.
void key_value_ring(OperationCalls& calls, const ContextWidths& c, const Operation& op) {
    if (op.beside) {
        c.exchanges() ? append(calls.before, copy(c, c.rows, c.all_keys), 1) : append_keys(calls.before, c, c.z.s.t, 1);
        calls.before.push_back(check(c.rows * c.all_keys));
    } else {
        calls.before = {check(c.rows * c.all_keys)};
        c.exchanges() ? append(calls.after, copy(c, c.rows, c.all_keys), 1) : append_home(calls.after, c);
    }
}

models::CpuCall merge(const ContextWidths& c) { return flat_call(models::CpuKernel::kAdd, c.rows * c.value); }

/// Behind each part but the first its sum with those before; the last part is another operation's.
void attention_of_others(OperationCalls& calls, const ContextWidths& c, const Operation& op) {
    calls.before = {attention_call(c.z, op)};
    for (double part = 1; part + 1 < c.ring; ++part) {
        calls.after.push_back(attention_call(c.z, op));
        if (runs_forward(op)) {
            calls.after.push_back(merge(c));
        }
    }
}

/// Scores of the operation's layer over those without a window, of whole sequences: parts of sequences on cp ranks have
/// early and late tokens.
double seen_share(const LocalShapes& z, const Operation& op) {
    constexpr auto kBand = static_cast<int>(models::kAttentionBand);
    const int sequence = z.s.workload.sequence_length, window = models::window_of(z.s.workload, op.layer);
    return window == 0 ? 1 : models::banded_scores(sequence, window, kBand) / models::banded_scores(sequence, 0, kBand);
}

}  // namespace

models::CpuCall attention_call(const LocalShapes& z, const Operation& op) {
    const bool forward = runs_forward(op);
    const AttentionWidths& w = z.attention;
    const models::ContextSplit& context = z.s.context;
    const bool gathers = z.s.plan.cp > 1 && context.all_to_all * context.ring == 1;
    models::CpuCall call =
        row_call(forward ? models::CpuKernel::kAttentionForward : models::CpuKernel::kAttentionBackward,
                 z.sequence * context.all_to_all / z.s.plan.cp, (gathers ? z.s.plan.cp : 1) * seen_share(z, op),
                 (w.qk + w.value) / 2 / z.heads);
    call.groups = z.sequences * z.heads / context.all_to_all;
    return with_cold_operands(z, op, call, !z.redone.attention, z.s.t * (forward ? w.value : w.query + w.key_value));
}

bool context_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls) {
    const ContextWidths c(z);
    switch (op.kind) {
        case OpKind::kKeyValueGather: key_value_gather(calls, c, op); return true;
        case OpKind::kTokensToHeads: tokens_to_heads(calls, c, op); return true;
        case OpKind::kHeadsToTokens: heads_to_tokens(calls, c, op); return true;
        case OpKind::kKeyValueRing: key_value_ring(calls, c, op); return true;
        case OpKind::kAttentionOfOthers: attention_of_others(calls, c, op); return true;
        case OpKind::kAttention:
            calls.before = {attention_call(z, op)};
            if (c.ring > 1 && runs_forward(op)) {
                calls.before.push_back(merge(c));
            }
            return true;
        default: return false;
    }
}

}  // namespace auspex::schedule
