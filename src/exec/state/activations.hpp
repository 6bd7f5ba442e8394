#pragma once
/// @file What a pass leaves for the backward pass, and what flows between operations. docs/memory.md has sizes, labels
/// and lifetimes.
#include <cstdint>
#include <vector>

#include "exec/kernels/scalar.hpp"
#include "exec/state/arena.hpp"

namespace auspex::exec {

/// Of latent attention: widths are those of RankShapes.
template <class P>
struct LatentTensors {
    using V = typename P::Value;
    Buffer<V> q_latent, kv_latent;  ///< [t, q_rank], [t, kv_latent]: as projected; of the latter the last `rope`
                                    ///< columns are the key that heads share, rotated in place
    Buffer<V> q_normed, kv_normed;  ///< [t, q_rank], [t, kv_rank]
    Buffer<V> query, key_value;     ///< [t, query], [t, key_value]; parts of queries rotated in place
    // gradients between operations of one backward pass, or waiting for those of weights; d_shared_key [t, rope]
    Buffer<V> d_query, d_key_value, d_shared_key, d_q_latent, d_kv_latent;
};

template <class P>
struct AttentionTensors {
    using V = typename P::Value;
    using R = typename P::Real;
    Buffer<V> input;          ///< [t_slice, h]: the residual stream
    Buffer<V> norm;           ///< [t_slice, h]
    Buffer<V> gathered_norm;  ///< [t, h]: the norm's output gathered over tp; only with sliced sequences
    Buffer<V> qkv;            ///< [t, qkv] as projected; without QK-norm rotated in place
    Buffer<R> sums;           ///< [t, 2]: squares of queries and of keys over the whole width; only with QK-norm, or
                              ///< of latents
    Buffer<V> qk;             ///< [t, q + kv]: normalised, then rotated; only with QK-norm
    Buffer<R> lse;            ///< [t, heads]
    Buffer<V> output;         ///< [t, value]
    LatentTensors<P> latent;  ///< instead of qkv and qk
    Buffer<V> context;  ///< with cp > 1: gathered keys and values, [cp t, both]; or, exchanged for other tokens', of
                        ///< some heads [all_to_all t, queries keys values], instead of those of the rank's tokens
    Buffer<V> heads_output;     ///< of attention with some heads, [all_to_all t, value / all_to_all]
    Buffer<V> d_first, d_last;  ///< gradients of what first and last linear layers made, [t, qkv] and [t, h]: for
                                ///< weight gradients that have a pass of their own
};

/// t is that of the tokens routed, RankShapes::t_routed.
template <class P>
struct ExpertTensors {
    using V = typename P::Value;
    using R = typename P::Real;
    Buffer<R> logits, probabilities;  ///< [t, N]
    Buffer<std::int64_t> choices;     ///< [t, K]: expert numbers
    Buffer<R> weights;                ///< [t, K]
    Buffer<R> sequence_counts;  ///< [sequences, N]: choices of whole sequences, where the rank routes parts of them
    // all-gather dispatch over ep > 1; with ep = 1 tokens, choices and weights are the rank's own
    Buffer<V> tokens;                  ///< [T, h]
    Buffer<std::int64_t> all_choices;  ///< [T, K]
    Buffer<R> all_weights;             ///< [T, K]
    Buffer<std::int64_t> mask;         ///< loop only: [N, K, tokens counted], released after index generation
    Buffer<std::int64_t> offsets;      ///< [E + 1]: first row of each local expert, the last is R; sent: [N + 1] of
                                       ///< the rows that leave
    Buffer<std::int32_t> row_slots;    ///< row -> token * K + choice, sorted by expert; [R], sent: [t K]
    // all-to-all dispatch over ep > 1 (sent)
    Buffer<V> send_rows;                    ///< [t K, h], released once sent
    Buffer<std::int64_t> send_experts;      ///< [t K]: the expert of each row, released once sent
    Buffer<V> received;                     ///< [R, h] in order of arrival; released once sorted
    Buffer<std::int64_t> received_experts;  ///< [R]
    std::vector<std::size_t> arrived_from;  ///< [ep]: rows received from each rank of the group
    Buffer<std::int64_t> arrival_offsets;   ///< [E + 1]: rows of each local expert, after sorting
    Buffer<std::int32_t> arrival;           ///< [R]: sorted row -> index of arrival; only with E > 1
    Buffer<V> permuted;  ///< [R, h]: rows sorted by expert; empty where `received` is sorted already (E = 1)
    Buffer<V> gate_up;   ///< [R, gates expert_inner]
    Buffer<V> product;   ///< [R, expert_inner]
    Buffer<V> outputs;   ///< [R, h]: sorted by expert; sent: sorted back (E > 1) and released once returned
    Buffer<V> returned;  ///< sent: [t K, h], in the order of row_slots
    // gradients between operations of one backward pass; d_sent: of returned rows, then of sent rows
    Buffer<V> d_rows, d_product, d_gate_up, d_permuted, d_tokens, d_sent;
    Buffer<R> d_all_weights, d_weights, d_logits;
};

template <class P>
struct FeedForwardTensors {
    using V = typename P::Value;
    Buffer<V> input, norm, gathered_norm;  ///< as in AttentionTensors; entered is what the experts read where ep = 1
    Buffer<V> gate_up, product;            ///< dense: [t, gates inner], [t, inner]; of shared experts with their width
    Buffer<V> shared_input;                ///< of shared experts, gathered over tp, where etp differs [t, h]
    Buffer<V> d_first, d_last;             ///< of these: as in AttentionTensors, [t, gates inner] and [t, h]
    ExpertTensors<P> experts;
};

template <class P>
struct HeadTensors {
    using V = typename P::Value;
    using R = typename P::Real;
    Buffer<V> input;          ///< [t_slice, h]: output of the last layer
    Buffer<V> norm;           ///< [t_slice, h]
    Buffer<V> gathered_norm;  ///< [t, h]: gathered over tp; only with sliced sequences
    Buffer<R> logits;         ///< [t, vocabulary]; the gradient replaces it
    Buffer<R> parts;          ///< [t, 3]: maximum, sum of exponentials, target's logit
};

/// In front of the layer of a prediction module.
template <class P>
struct PredictionTensors {
    using V = typename P::Value;
    Buffer<V> embedding;    ///< [t_slice, h]: of the tokens further on
    Buffer<V> normed;       ///< [t_slice, 2 h]: of the embedding, then of the state
    Buffer<V> d_projected;  ///< gradient of what is projected, [t_slice, h]
};

/// Everything of one micro-batch in one model chunk, from its forward to its last backward pass.
template <class P>
struct PassTensors {
    std::vector<AttentionTensors<P>> attention;  ///< by layer of the chunk, from 0
    std::vector<FeedForwardTensors<P>> feed_forward;
    std::vector<AttentionTensors<P>> attention_on_host;  ///< of offloaded layers, while they are in host memory
    std::vector<FeedForwardTensors<P>> feed_forward_on_host;
    std::vector<HeadTensors<P>> heads;  ///< the model's own, behind it those of prediction modules
    std::vector<PredictionTensors<P>> predictions;
    Buffer<typename P::Value> gradient;       ///< [t_slice, h] of the chunk's output, from the chunk behind on the rank
    Buffer<typename P::Value> router_logits;  ///< [MoE layers so far, t, N] of the model, with a global auxiliary loss
                                              ///< (make_router_logits);
                                              ///< backward: their gradients
};

/// Between the operations of attention over cp ranks, of one pass.
template <class P>
struct ContextValues {
    Buffer<typename P::Value> here,
        coming;                      ///< a ring's part of keys and values, backward with its gradients behind it
    Buffer<typename P::Value> d;     ///< gradient of AttentionTensors::context
    Buffer<typename P::Real> delta;  ///< backward in a ring
};

/// Values that flow from one operation to the next.
template <class P>
struct RunningValues {
    using V = typename P::Value;
    Buffer<V> x;           ///< forward: what the sublayer has made; backward: gradient on its way through it
    Buffer<V> g;           ///< backward: gradient of the residual stream [t_slice, h]
    Buffer<V> gathered_g;  ///< backward: g gathered over tp [t, h]; only with sliced sequences; for experts over etp
                           ///< [t_routed, h]
    Buffer<V> saved;       ///< backward: a sublayer's norm output gathered once more, as those above
    Buffer<V> upstream;    ///< backward: gradient of a linear layer's output, until its weight gradient is done
    Buffer<V> shared_g;    ///< backward: g gathered over tp for shared experts, where etp differs [t, h]
    Buffer<V> shared;  ///< what shared experts have made, or the gradient of their input, until it is added to x [t, h]
    Buffer<typename P::Real> qk_sums;  ///< backward: [t, 2]
    Buffer<V> d_embedding;             ///< backward: of what a prediction module has looked
                                       ///< up [t_slice, h]
    std::size_t head = 0;              ///< of the chunk's heads the one that runs next
    ContextValues<P> context;
};

}  // namespace auspex::exec
