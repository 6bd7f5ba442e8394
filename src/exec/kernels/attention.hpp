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
/// The same of heads that begin `apart` elements from one another, x the first one's.
template <typename V>
void rotate_apart(std::size_t rows, std::size_t sequence, std::size_t heads, std::size_t head_size, std::size_t apart,
                  double theta, V* x, std::size_t ldx, bool inverse);

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

/// Latent attention (DeepSeek-V2, arXiv:2405.04434): a head's query is [plain, rotated], its key [plain] and the
/// [rotated] that all heads share, its value [value].
struct LatentAttentionSizes {
    std::size_t sequences = 1, sequence = 0, heads = 0;
    std::size_t plain = 0, rotated = 0, value = 0;
    std::size_t ld_shared = 0;  ///< of a row of shared keys
    [[nodiscard]] std::size_t query() const { return plain + rotated; }
    [[nodiscard]] std::size_t ld_query() const { return heads * query(); }
    [[nodiscard]] std::size_t ld_key_value() const { return heads * (plain + value); }
};

/// As attention_forward, scores over sqrt(plain + rotated). q [t, heads * query()]; key_value [t, heads * (plain +
/// value)]: of each head its key, then its value; shared [t, rotated] of leading dimension ld_shared; output [t, heads
/// * value].
template <typename V, typename R>
void latent_attention_forward(const LatentAttentionSizes& sizes, const V* q, const V* key_value, const V* shared,
                              V* output, R* lse);
/// dq and d_key_value are written, laid out as what they are gradients of; d_shared [t, rotated] without gaps: the sum
/// over heads, in their order. `delta` as in attention_backward.
template <typename V, typename R>
void latent_attention_backward(const LatentAttentionSizes& sizes, const V* q, const V* key_value, const V* shared,
                               const V* output, const R* lse, const V* d_output, R* delta, V* dq, V* d_key_value,
                               V* d_shared);

}  // namespace auspex::exec
