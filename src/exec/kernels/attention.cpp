/// @file Attention with keys and values of their own heads, and sums of partial attentions.
#include "exec/kernels/attention.hpp"

#include "exec/kernels/attention_bands.hpp"
#include "exec/kernels/call_record.hpp"

namespace auspex::exec {
namespace {

using bands::clear_gradients, bands::gather, bands::head_backward, bands::head_forward, bands::HeadSizes,
    bands::keys_for_queries, bands::Panels, bands::row_products, bands::scatter;

HeadSizes heads_of(const AttentionSizes& sizes) {
    return {{sizes.sequence, sizes.rows, sizes.window}, sizes.heads, sizes.head_size, sizes.head_size, sizes.adds};
}

/// First head of a key head's group; that of kv_heads is heads.
std::size_t first_head(const AttentionSizes& sizes, std::size_t kv_head) {
    return (kv_head * sizes.heads + sizes.kv_heads - 1) / sizes.kv_heads;
}

void record(const char* kernel, const AttentionSizes& sizes, const HeadSizes& of) {
    record_call(kernel, of.rows.queries(), keys_for_queries(of.rows), sizes.head_size, sizes.sequences * sizes.heads);
}

}  // namespace

template <typename V, typename R>
void attention_forward(const AttentionSizes& sizes, const V* q, const V* k, const V* v, V* output, R* lse) {
    const std::size_t width = sizes.head_size;
    const HeadSizes of = heads_of(sizes);
    record("attention_forward", sizes, of);
    const Panels<R> panels(of, false);
    for (std::size_t kv_index = 0; kv_index < sizes.sequences * sizes.kv_heads; ++kv_index) {
        const std::size_t sequence = kv_index / sizes.kv_heads, kv_head = kv_index % sizes.kv_heads;
        const auto key_row = [&](std::size_t i) { return of.rows.key(sequence, i); };
        gather(of.rows.keys(), width, k + kv_head * width, sizes.ld_k, key_row, panels.k, width);
        gather(of.rows.keys(), width, v + kv_head * width, sizes.ld_v, key_row, panels.v, width);
        for (std::size_t head = first_head(sizes, kv_head); head < first_head(sizes, kv_head + 1); ++head) {
            head_forward(of, {sequence, head}, panels, q + head * width, sizes.ld_q, output, lse);
        }
    }
}

template <typename V, typename R>
void attention_backward(const AttentionSizes& sizes, const V* q, const V* k, const V* v, const V* output, const R* lse,
                        const V* d_output, R* delta, V* dq, V* dk, V* dv) {
    const std::size_t width = sizes.head_size;
    const std::size_t ld_keys = sizes.ld_key_gradient == 0 ? sizes.ld_gradient : sizes.ld_key_gradient;
    const HeadSizes of = heads_of(sizes);
    record("attention_backward", sizes, of);
    const Panels<R> panels(of, true);
    if (!sizes.adds) {
        row_products(sizes.sequences * of.rows.queries() * sizes.heads, width, output, d_output, delta);
    }
    for (std::size_t kv_index = 0; kv_index < sizes.sequences * sizes.kv_heads; ++kv_index) {
        const std::size_t sequence = kv_index / sizes.kv_heads, kv_head = kv_index % sizes.kv_heads;
        const auto key_row = [&](std::size_t i) { return of.rows.key(sequence, i); };
        const std::size_t keys = of.rows.keys(), column = kv_head * width;
        gather(keys, width, k + column, sizes.ld_k, key_row, panels.k, width);
        gather(keys, width, v + column, sizes.ld_v, key_row, panels.v, width);
        clear_gradients(of, panels);
        for (std::size_t head = first_head(sizes, kv_head); head < first_head(sizes, kv_head + 1); ++head) {
            head_backward(of, {sequence, head}, panels, q + head * width, sizes.ld_q, lse, delta, d_output,
                          dq + head * width, sizes.ld_gradient);
        }
        scatter(keys, width, panels.dk, width, dk + column, ld_keys, key_row, sizes.adds);
        scatter(keys, width, panels.dv, width, dv + column, ld_keys, key_row, sizes.adds);
    }
}

template <typename V, typename R>
void merge_attention(std::size_t token_heads, std::size_t width, const V* other, const R* other_lse, V* output,
                     R* lse) {
    record_call("merge_attention", 1, token_heads * width);
    for (std::size_t n = 0; n < token_heads; ++n) {
        const R maximum = std::max(lse[n], other_lse[n]);
        if (maximum == -std::numeric_limits<R>::infinity()) {
            continue;  // neither part has a key that the query sees
        }
        const R own = std::exp(lse[n] - maximum), more = std::exp(other_lse[n] - maximum);
        const R inverse = 1 / (own + more);
        for (std::size_t i = 0; i < width; ++i) {
            V& sum = output[n * width + i];
            sum = stored<V>((own * real(sum) + more * real(other[n * width + i])) * inverse);
        }
        lse[n] = maximum + std::log(own + more);
    }
}

#define AUSPEX_ATTENTION(V, R)                                                                                \
    template void attention_forward(const AttentionSizes&, const V*, const V*, const V*, V*, R*);             \
    template void attention_backward(const AttentionSizes&, const V*, const V*, const V*, const V*, const R*, \
                                     const V*, R*, V*, V*, V*);                                               \
    template void merge_attention(std::size_t, std::size_t, const V*, const R*, V*, R*);
AUSPEX_ATTENTION(float, float)
AUSPEX_ATTENTION(double, double)
AUSPEX_ATTENTION(Bf16, float)
#undef AUSPEX_ATTENTION

}  // namespace auspex::exec
