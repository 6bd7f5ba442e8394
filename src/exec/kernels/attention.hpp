#pragma once
/// @file Rotary embedding and causal attention.
#include <cstddef>

#include "exec/kernels/scalar.hpp"

namespace auspex::exec {

/// Rotates `heads` heads of every row in place: of a head's two halves (a, b) at position p, dimension i of d/2, with
/// w = p theta^(-2i/d): (a cos w - b sin w, b cos w + a sin w). `inverse` rotates back, which is also the gradient. The
/// position of row r is r mod sequence.
template <typename V>
void rotate(std::size_t rows, std::size_t sequence, std::size_t heads, std::size_t head_size, double theta, V* x,
            std::size_t ldx, bool inverse);

struct AttentionSizes {
    std::size_t sequences = 1, sequence = 0, heads = 0, kv_heads = 0, head_size = 0;
    std::size_t ld_q = 0, ld_k = 0,
                ld_v = 0;         ///< of a row (a token) of queries, keys, values
    std::size_t ld_gradient = 0;  ///< of a row of dq, dk and dv, which lie in one tensor
};

/// output[t, heads * head_size] = softmax(q k^T / sqrt(head_size), causal) v; lse[t, heads] = log-sum-exp of the scaled
/// scores. Grouped queries: head i uses key head i * kv_heads / heads. Scores are formed in blocks, never whole.
template <typename V, typename R>
void attention_forward(const AttentionSizes& sizes, const V* q, const V* k, const V* v, V* output, R* lse);
/// dq, dk, dv are written, all with leading dimension ld_gradient. `delta` is [t, heads] of scratch: row sums of
/// d_output * output.
template <typename V, typename R>
void attention_backward(const AttentionSizes& sizes, const V* q, const V* k, const V* v, const V* output, const R* lse,
                        const V* d_output, R* delta, V* dq, V* dk, V* dv);

}  // namespace auspex::exec
