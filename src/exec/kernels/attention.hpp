#pragma once
/// @file Rotary embedding and causal attention.
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/kernels/attended_rows.hpp"
#include "exec/kernels/scalar.hpp"

namespace auspex::exec {

/// Positions of the rows of a sequence, one sequence after another: 0 to length - 1 in order, or as dealt.
struct RowPositions {
    std::size_t rows;  ///< of a sequence
    std::span<const std::uint32_t> dealt{};
    RowPositions(std::size_t length) : rows(length) {}  // NOLINT(google-explicit-constructor): a length is a case of it
    explicit RowPositions(std::span<const std::uint32_t> positions) : rows(positions.size()), dealt(positions) {}
    [[nodiscard]] std::size_t of(std::size_t row) const { return dealt.empty() ? row % rows : dealt[row % rows]; }
};

/// Rotates `heads` heads of every row in place: of a head's two halves (a, b) at position p, dimension i of d/2, with
/// w = p theta^(-2i/d): (a cos w - b sin w, b cos w + a sin w). `inverse` rotates back, which is also the gradient. The
/// position of a row is positions.of(row).
template <typename V>
void rotate(std::size_t rows, const RowPositions& positions, std::size_t heads, std::size_t head_size, double theta,
            V* x, std::size_t ldx, bool inverse);
/// The same of heads that begin `apart` elements from one another, x the first one's.
template <typename V>
void rotate_apart(std::size_t rows, const RowPositions& positions, std::size_t heads, std::size_t head_size,
                  std::size_t apart, double theta, V* x, std::size_t ldx, bool inverse);

struct AttentionSizes {
    std::size_t sequences = 1, sequence = 0, heads = 0, kv_heads = 0, head_size = 0;
    std::size_t ld_q = 0, ld_k = 0,
                ld_v = 0;                ///< of a row (a token) of queries, keys, values
    std::size_t ld_gradient = 0;         ///< of a row of dq, and of dk and dv unless the next is not 0
    std::size_t ld_key_gradient = 0;     ///< of a row of dk and dv
    const AttendedRows* rows = nullptr;  ///< null: whole sequences of `sequence` tokens, in order
    std::size_t window = 0;  ///< keys that a query sees at most, its own the last; 0: all up to its own. Of dealt rows
                             ///< any other number stands for theirs
    bool adds = false;       ///< backward: gradients are added to what is there, and `delta` is that of an earlier call
};

/// output[t, heads * head_size] = softmax(q k^T / sqrt(head_size), causal) v; lse[t, heads] = log-sum-exp of the scaled
/// scores. Grouped queries: head i uses key head i * kv_heads / heads. Scores are formed in blocks, never whole. A
/// query that sees no key has output 0 and lse minus infinity.
template <typename V, typename R>
void attention_forward(const AttentionSizes& sizes, const V* q, const V* k, const V* v, V* output, R* lse);
/// dq, dk, dv are written. `delta` is [t, heads] of scratch: row sums of d_output * output. Of attention to some of the
/// keys only: with output and lse of all of them.
template <typename V, typename R>
void attention_backward(const AttentionSizes& sizes, const V* q, const V* k, const V* v, const V* output, const R* lse,
                        const V* d_output, R* delta, V* dq, V* dk, V* dv);

/// Attention to some keys (output and its lse), merged with attention of the same queries to `other` ones: rows of one
/// head, [token_heads, width], each a mean by exp(lse).
template <typename V, typename R>
void merge_attention(std::size_t token_heads, std::size_t width, const V* other, const R* other_lse, V* output, R* lse);

/// Latent attention (DeepSeek-V2, arXiv:2405.04434): a head's query is [plain, rotated], its key [plain] and the
/// [rotated] that all heads share, its value [value].
struct LatentAttentionSizes {
    std::size_t sequences = 1, sequence = 0, heads = 0;
    std::size_t plain = 0, rotated = 0, value = 0;
    std::size_t ld_shared = 0;           ///< of a row of shared keys
    const AttendedRows* rows = nullptr;  ///< as in AttentionSizes, and so are `window` and `adds`
    std::size_t window = 0;
    bool adds = false;
    // Of rows that hold more than one of these tensors, and of their gradients; 0: without gaps.
    std::size_t ld_of_query = 0, ld_of_key_value = 0, ld_of_d_query = 0, ld_of_d_shared = 0;
    [[nodiscard]] std::size_t query() const { return plain + rotated; }
    [[nodiscard]] std::size_t ld_query() const { return ld_of_query == 0 ? heads * query() : ld_of_query; }
    [[nodiscard]] std::size_t ld_d_query() const { return ld_of_d_query == 0 ? heads * query() : ld_of_d_query; }
    [[nodiscard]] std::size_t ld_d_shared() const { return ld_of_d_shared == 0 ? rotated : ld_of_d_shared; }
    [[nodiscard]] std::size_t ld_key_value() const {
        return ld_of_key_value == 0 ? heads * (plain + value) : ld_of_key_value;
    }
};

/// As attention_forward, scores over sqrt(plain + rotated). q [t, heads * query()]; key_value [t, heads * (plain +
/// value)]: of each head its key, then its value; shared [t, rotated] of leading dimension ld_shared; output [t, heads
/// * value].
template <typename V, typename R>
void latent_attention_forward(const LatentAttentionSizes& sizes, const V* q, const V* key_value, const V* shared,
                              V* output, R* lse);
/// dq and d_key_value are written, the latter laid out as what it is the gradient of; d_shared [t, rotated]: the sum
/// over heads, in their order. `delta` as in attention_backward.
template <typename V, typename R>
void latent_attention_backward(const LatentAttentionSizes& sizes, const V* q, const V* key_value, const V* shared,
                               const V* output, const R* lse, const V* d_output, R* delta, V* dq, V* d_key_value,
                               V* d_shared);

}  // namespace auspex::exec
