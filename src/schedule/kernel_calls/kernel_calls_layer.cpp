/// @file The kernel calls of attention, dense feed-forward and the model's two ends.
#include "models/context/dealt_tokens.hpp"
#include "schedule/kernel_calls/call_lists.hpp"

namespace auspex::schedule {
namespace {

using Calls = std::vector<models::CpuCall>;

/// A norm. Its input is always kept, and read once more where it is recomputed. Of a layer norm the mean is
/// subtracted: one more sum over a row forward, two backward.
Calls norm_calls(const LocalShapes& z, const Operation& op, bool keeps) {
    const bool forward = runs_forward(op);
    const double rows = z.s.t_norm;
    Calls calls{row_call(forward ? models::CpuKernel::kNormForward : models::CpuKernel::kNormBackward, rows, z.s.h)};
    calls.front().cold_bytes = op.phase != Phase::kForward || keeps ? rows * z.s.h * z.w : 0;
    if (z.s.workload.norm != models::NormKind::kRms) {
        calls.push_back(row_call(models::CpuKernel::kSquareSums, rows, z.s.h));
        calls.back().repeat = forward ? 1 : 2;
    }
    return calls;
}

/// The first linear layer of a sublayer. Its output is kept; its weight's gradient reads the norm's output, unless that
/// has just been gathered.
models::CpuCall first_linear(const LocalShapes& z, const Operation& op, double out, bool keeps) {
    const models::CpuCall call = linear_call(z, op, z.s.t, out, z.s.h);
    if (runs_forward(op)) {
        return with_cold_operands(z, op, call, keeps, z.s.t * out);
    }
    const bool sliced = z.s.plan.sequence_parallel && z.s.tp > 1;
    return with_cold_operands(z, op, call, op.phase == Phase::kBackwardWeight && !z.redone.norm && !sliced,
                              z.s.t * z.s.h);
}

/// The last one, of a kept input.
models::CpuCall last_linear(const LocalShapes& z, const Operation& op, double in, bool keeps) {
    return with_cold_operands(z, op, linear_call(z, op, z.s.t, z.s.h, in), keeps && op.phase == Phase::kBackwardWeight,
                              z.s.t * in);
}

bool is_latent(const LocalShapes& z) { return z.s.workload.attention == models::AttentionKind::kLatent; }

/// A kernel over the queries, then over the keys, or their latents, with a kept tensor as wide as they are, or without.
Calls queries_and_keys(const LocalShapes& z, const Operation& op, models::CpuKernel kernel, bool keeps) {
    Calls calls;
    const models::Workload& w = z.s.workload;
    for (const double width : {is_latent(z) ? w.q_rank : z.q, is_latent(z) ? w.kv_rank : z.kv}) {
        if (width > 0) {
            calls.push_back(
                with_cold_operands(z, op, row_call(kernel, z.s.t, width), keeps && !z.redone.attention, z.s.t * width));
        }
    }
    return calls;
}

Calls qk_norm_sums(const LocalShapes& z, const Operation& op) {
    return runs_forward(op) ? queries_and_keys(z, op, models::CpuKernel::kSquareSums, false)
                            : queries_and_keys(z, op, models::CpuKernel::kQkNormProducts, true);
}

/// What is normalised is kept; backward the sums before have just read what was.
Calls qk_norm(const LocalShapes& z, const Operation& op) {
    Calls calls = z.s.tp == 1 || is_latent(z) ? qk_norm_sums(z, op) : Calls{};
    const Calls norms = runs_forward(op) ? queries_and_keys(z, op, models::CpuKernel::kQkNormForward, true)
                                         : queries_and_keys(z, op, models::CpuKernel::kQkNormBackward, false);
    calls.insert(calls.end(), norms.begin(), norms.end());
    return calls;
}

/// From a normalised latent to heads. What it makes is kept, and the latent.
models::CpuCall from_latent(const LocalShapes& z, const Operation& op, double out, double in) {
    const models::CpuCall call = linear_call(z, op, z.s.t, out, in);
    const double kept = runs_forward(op) ? out : op.phase == Phase::kBackwardWeight ? in : 0;
    return with_cold_operands(z, op, call, !z.redone.attention, z.s.t * kept);
}

/// Backward the gradient of the key that heads share is put behind that of the latent.
Calls key_value_up(const LocalShapes& z, const Operation& op) {
    const models::Workload& w = z.s.workload;
    Calls calls{from_latent(z, op, z.attention.key_value, w.kv_rank)};
    if (op.phase == Phase::kBackwardInput && w.rope_head_size > 0) {
        calls.push_back(flat_call(models::CpuKernel::kCopy, z.s.t * w.rope_head_size * z.w));
    }
    return calls;
}

/// Of latents a part of every query, then the key that heads share.
/// Recomputed from the latents: without that key, which is kept rotated.
Calls rotations(const LocalShapes& z, const Operation& op) {
    const double rope = z.s.workload.rope_head_size;
    if (is_latent(z)) {
        Calls calls{row_call(models::CpuKernel::kRotate, z.s.t, z.heads * rope, rope)};
        if (op.phase != Phase::kRecompute || !z.redone.latent_up) {
            calls.push_back(row_call(models::CpuKernel::kRotate, z.s.t, rope, rope));
        }
        return calls;
    }
    return {row_call(models::CpuKernel::kRotate, z.s.t, z.q + z.kv, z.head)};
}

/// The product is kept; backward gate and up are read. GELU has as many exponentials as SwiGLU: the law is the same.
models::CpuCall activation(const LocalShapes& z, const Operation& op) {
    const bool forward = runs_forward(op);
    if (z.s.workload.is_moe_layer(op.layer)) {  // of the rank's routed rows, recomputed by itself
        return row_call(models::CpuKernel::kSwigluForward, z.s.routed_rows, z.s.expert_size);
    }
    return with_cold_operands(
        z, op,
        row_call(forward ? models::CpuKernel::kSwigluForward : models::CpuKernel::kSwigluBackward, z.s.t, z.inner),
        !z.redone.expert && !(forward && z.redone.activation), z.s.t * z.inner * (forward ? 1 : z.s.workload.gates()));
}

/// The sum is the kept input of the next sublayer.
models::CpuCall residual_add(const LocalShapes& z, const Operation& op) {
    const double elements = z.s.t_norm * z.s.h;
    return with_cold_operands(z, op, flat_call(models::CpuKernel::kAdd, elements), op.phase == Phase::kForward,
                              elements);
}

/// The tokens of a micro-batch, 4 bytes each, copied into one buffer.
models::CpuCall token_copy(const LocalShapes& z) { return flat_call(models::CpuKernel::kCopy, 4 * z.s.t); }

/// Forward rows of the table, and the first layer's kept input; backward the rows whose tokens are in the rank's part
/// of the vocabulary. Learned positions are added to the rows, by the first rank of a tp group, and their gradients up
/// over sequences; where cp deals sequences out, run by run of positions.
Calls embedding(const LocalShapes& z, const Operation& op) {
    const double own_rows = z.s.t / z.s.tp;
    const bool learned = z.s.workload.learned_positions && op.layer < 0;  // not where a prediction module looks up
    const int cp = z.s.plan.cp;
    const auto parts = static_cast<double>(models::dealt_positions(z.s.workload.sequence_length, cp, 0).size());
    const double runs = cp == 1 ? 1 : z.sequences * parts;
    if (runs_forward(op)) {
        models::CpuCall call = row_call(models::CpuKernel::kEmbeddingForward, z.s.t, z.s.h);
        call.cold_bytes = (own_rows + z.s.t) * z.s.h * z.w;
        Calls calls{token_copy(z), call};
        if (learned) {
            calls.push_back(flat_call(models::CpuKernel::kAdd, z.s.t * z.s.h / runs));
            calls.back().repeat = runs;
        }
        return calls;
    }
    models::CpuCall call = row_call(models::CpuKernel::kEmbeddingBackward, own_rows, z.s.h);
    call.cold_bytes = 2 * own_rows * z.s.h * z.g;
    Calls calls{token_copy(z), call};
    if (learned) {
        calls.push_back(runs == 1 ? row_call(models::CpuKernel::kSquareSums, z.sequences, z.sequence * z.s.h)
                                  : row_call(models::CpuKernel::kSquareSums, 1, z.s.t * z.s.h / runs));
        calls.back().repeat = runs;
    }
    return calls;
}

/// The gradient of the state through prediction modules is added to that through the norm: the program's second kernel.
Calls final_norm(const LocalShapes& z, const Operation& op) {
    Calls calls = norm_calls(z, op, true);
    if (!runs_forward(op) && op.kernel_end - op.kernel_begin > 1) {
        calls.push_back(flat_call(models::CpuKernel::kAdd, z.s.t_norm * z.s.h));
    }
    return calls;
}

/// Two norms side by side, and the projection of both. What is normalised is kept, and so are the norms.
Calls prediction_input(const LocalShapes& z, const Operation& op) {
    const double rows = z.s.t_norm;
    const models::CpuCall product = linear_call(z, op, rows, z.s.h, 2 * z.s.h);
    if (op.phase == Phase::kBackwardWeight) {
        return with_bias(z, op, with_cold_operands(z, op, product, !z.redone.norm, rows * 2 * z.s.h), rows, z.s.h);
    }
    Calls calls;
    for (int tensor = 0; tensor < 2; ++tensor) {
        const Calls norm = norm_calls(z, op, !z.redone.norm);
        calls.insert(calls.end(), norm.begin(), norm.end());
    }
    const Calls projection =
        with_bias(z, op, with_cold_operands(z, op, product, runs_forward(op), rows * z.s.h), rows, z.s.h);
    if (op.phase != Phase::kRecompute) {
        calls.insert(calls.end(), projection.begin(), projection.end());
    }
    return calls;
}

/// With a global auxiliary loss router logits of all layers are gone through twice, row by row: softmax, choices and
/// their count; softmax once more, and sums or gradients. Taken as one router and its losses, or its backward pass.
Calls cross_entropy(const LocalShapes& z, const Operation& op) {
    const models::Workload& w = z.s.workload;
    const bool forward = runs_forward(op);
    Calls calls{token_copy(z),
                row_call(forward ? models::CpuKernel::kCrossEntropyParts : models::CpuKernel::kCrossEntropyBackward,
                         z.s.t, z.vocabulary)};
    if (w.global_aux_loss) {
        const double rows = (w.layers - w.first_dense_layers) * z.s.t;
        calls.push_back(router_choice(z, rows));
        calls.push_back(row_call(forward ? models::CpuKernel::kRouterLosses : models::CpuKernel::kRouterBackward, rows,
                                 z.all_experts, z.top_k));
    }
    return calls;
}

}  // namespace

bool attention_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls) {
    const models::Workload& w = z.s.workload;
    switch (op.kind) {
        case OpKind::kAttentionNorm: calls.before = norm_calls(z, op, !z.redone.norm); return true;
        case OpKind::kQkvProjection:
            calls.before = with_bias(z, op, first_linear(z, op, z.qkv, !z.redone.attention), z.s.t, z.qkv);
            return true;
        case OpKind::kQkNormSums: calls.before = qk_norm_sums(z, op); return true;
        case OpKind::kQkNorm: calls.before = qk_norm(z, op); return true;
        case OpKind::kQueryDown: calls.before = {first_linear(z, op, w.q_rank, !z.redone.attention)}; return true;
        case OpKind::kKeyValueDown:
            calls.before = {first_linear(z, op, w.kv_rank + w.rope_head_size, !z.redone.attention)};
            return true;
        case OpKind::kQueryUp:
            calls.before = {w.q_rank > 0 ? from_latent(z, op, z.attention.query, w.q_rank)
                                         : first_linear(z, op, z.attention.query, !z.redone.attention)};
            return true;
        case OpKind::kKeyValueUp: calls.before = key_value_up(z, op); return true;
        case OpKind::kRotaryEmbedding: calls.before = rotations(z, op); return true;
        case OpKind::kAttentionOutput:
            calls.before = with_bias(z, op, last_linear(z, op, z.attention.value, !z.redone.attention), z.s.t, z.s.h);
            return true;
        default: return false;
    }
}

bool feed_forward_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls) {
    switch (op.kind) {
        case OpKind::kFeedForwardNorm: calls.before = norm_calls(z, op, !z.redone.norm); return true;
        case OpKind::kGateUpProjection:
            calls.before = with_bias(z, op, first_linear(z, op, z.s.workload.gates() * z.inner, !z.redone.expert),
                                     z.s.t, z.s.workload.gates() * z.inner);
            return true;
        case OpKind::kActivation: calls.before = {activation(z, op)}; return true;
        case OpKind::kDownProjection:
            calls.before =
                with_bias(z, op, last_linear(z, op, z.inner, !z.redone.expert && !z.redone.activation), z.s.t, z.s.h);
            return true;
        case OpKind::kResidualAdd: calls.before = {residual_add(z, op)}; return true;
        default: return false;
    }
}

bool head_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls) {
    switch (op.kind) {
        case OpKind::kEmbedding: calls.before = embedding(z, op); return true;
        case OpKind::kFinalNorm: calls.before = final_norm(z, op); return true;
        case OpKind::kPredictionInput: calls.before = prediction_input(z, op); return true;
        case OpKind::kLmHead: calls.before = {linear_call(z, op, z.s.t, z.vocabulary, z.s.h)}; return true;
        case OpKind::kCrossEntropy: calls.before = cross_entropy(z, op); return true;
        default: return false;
    }
}

}  // namespace auspex::schedule
