/// @file Latent attention: heads of their own plain keys and values, and one rotated key for all.
#include "exec/kernels/attention.hpp"
#include "exec/kernels/attention_bands.hpp"
#include "exec/kernels/call_record.hpp"

namespace auspex::exec {
namespace {

using bands::clear_gradients, bands::gather, bands::head_backward, bands::head_forward, bands::HeadSizes,
    bands::keys_for_queries, bands::Panels, bands::row_products, bands::scatter, bands::Head, bands::SequenceRows;

HeadSizes heads_of(const LatentAttentionSizes& sizes) {
    return {{sizes.sequence, sizes.rows, sizes.window}, sizes.heads, sizes.query(), sizes.value, sizes.adds};
}

void record(const char* kernel, const LatentAttentionSizes& sizes, const HeadSizes& of) {
    record_call(kernel, of.rows.queries(), keys_for_queries(of.rows), (sizes.query() + sizes.value) / 2,
                sizes.sequences * sizes.heads);
}

/// Keys and values of one head, those that heads share behind its own.
template <typename V, typename R>
void gather_head(const LatentAttentionSizes& sizes, const SequenceRows& rows, const Head& at, const V* key_value,
                 const V* shared, const Panels<R>& panels) {
    const std::size_t ld = sizes.ld_key_value(), width = sizes.query(), keys = rows.keys();
    const V* const own = key_value + at.head * (sizes.plain + sizes.value);
    const auto key_row = [&](std::size_t i) { return rows.key(at.sequence, i); };
    gather(keys, sizes.plain, own, ld, key_row, panels.k, width);
    gather(keys, sizes.rotated, shared, sizes.ld_shared, key_row, panels.k + sizes.plain, width);
    gather(keys, sizes.value, own + sizes.plain, ld, key_row, panels.v, sizes.value);
}

/// The gradients of one head's, those of shared keys added to panels.shared.
template <typename V, typename R>
void scatter_head(const LatentAttentionSizes& sizes, const SequenceRows& rows, const Head& at, const Panels<R>& panels,
                  V* d_key_value) {
    const std::size_t ld = sizes.ld_key_value(), width = sizes.query(), keys = rows.keys();
    V* const own = d_key_value + at.head * (sizes.plain + sizes.value);
    const auto key_row = [&](std::size_t i) { return rows.key(at.sequence, i); };
    scatter(keys, sizes.plain, panels.dk, width, own, ld, key_row, sizes.adds);
    scatter(keys, sizes.value, panels.dv, sizes.value, own + sizes.plain, ld, key_row, sizes.adds);
    for (std::size_t row = 0; row < keys; ++row) {
        for (std::size_t i = 0; i < sizes.rotated; ++i) {
            panels.shared[row * sizes.rotated + i] += panels.dk[row * width + sizes.plain + i];
        }
    }
}

}  // namespace

template <typename V, typename R>
void latent_attention_forward(const LatentAttentionSizes& sizes, const V* q, const V* key_value, const V* shared,
                              V* output, R* lse) {
    const HeadSizes of = heads_of(sizes);
    record("attention_forward", sizes, of);
    const Panels<R> panels(of, false);
    for (std::size_t index = 0; index < sizes.sequences * sizes.heads; ++index) {
        const Head at{index / sizes.heads, index % sizes.heads};
        gather_head(sizes, of.rows, at, key_value, shared, panels);
        head_forward(of, at, panels, q + at.head * sizes.query(), sizes.ld_query(), output, lse);
    }
}

template <typename V, typename R>
void latent_attention_backward(const LatentAttentionSizes& sizes, const V* q, const V* key_value, const V* shared,
                               const V* output, const R* lse, const V* d_output, R* delta, V* dq, V* d_key_value,
                               V* d_shared) {
    const HeadSizes of = heads_of(sizes);
    record("attention_backward", sizes, of);
    const Panels<R> panels(of, true, sizes.rotated);
    const std::size_t width = sizes.query(), keys = of.rows.keys();
    if (!sizes.adds) {
        row_products(sizes.sequences * of.rows.queries() * sizes.heads, sizes.value, output, d_output, delta);
    }
    for (std::size_t sequence = 0; sequence < sizes.sequences; ++sequence) {
        std::fill_n(panels.shared, keys * sizes.rotated, R{0});
        for (std::size_t head = 0; head < sizes.heads; ++head) {
            const Head at{sequence, head};
            gather_head(sizes, of.rows, at, key_value, shared, panels);
            clear_gradients(of, panels);
            head_backward(of, at, panels, q + head * width, sizes.ld_query(), lse, delta, d_output, dq + head * width,
                          sizes.ld_d_query());
            scatter_head(sizes, of.rows, at, panels, d_key_value);
        }
        scatter(
            keys, sizes.rotated, panels.shared, sizes.rotated, d_shared, sizes.ld_d_shared(),
            [&](std::size_t i) { return of.rows.key(sequence, i); }, sizes.adds);
    }
}

#define AUSPEX_ATTENTION(V, R)                                                                                   \
    template void latent_attention_forward(const LatentAttentionSizes&, const V*, const V*, const V*, V*, R*);   \
    template void latent_attention_backward(const LatentAttentionSizes&, const V*, const V*, const V*, const V*, \
                                            const R*, const V*, R*, V*, V*, V*);
AUSPEX_ATTENTION(float, float)
AUSPEX_ATTENTION(double, double)
AUSPEX_ATTENTION(Bf16, float)
#undef AUSPEX_ATTENTION

}  // namespace auspex::exec
