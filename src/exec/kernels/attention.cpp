/// @file Causal attention by bands of queries: the scores of kBand queries with all keys up to the last of them are
/// formed at once, so that the softmax of a row needs no second visit. The backward pass forms them again from the
/// log-sum-exps. Heads are gathered (and widened) into panels of [sequence, head_size]; all products are gemm's.
#include "exec/kernels/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "exec/kernels/call_record.hpp"
#include "exec/kernels/exponential.hpp"
#include "exec/kernels/gemm.hpp"
#include "exec/kernels/scratch.hpp"
#include "models/cpu/cpu_kernel.hpp"

namespace auspex::exec {
namespace {

constexpr std::size_t kBand = models::kAttentionBand;

/// Columns [0, width) of `rows` rows, widened, into a panel of `ld_panel` columns.
template <typename V, typename R>
void gather(std::size_t rows, std::size_t width, const V* from, std::size_t ld, R* panel, std::size_t ld_panel) {
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < width; ++i) {
            panel[row * ld_panel + i] = real(from[row * ld + i]);
        }
    }
}

/// The way back, rounded.
template <typename V, typename R>
void scatter(std::size_t rows, std::size_t width, const R* panel, std::size_t ld_panel, V* to, std::size_t ld) {
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < width; ++i) {
            to[row * ld + i] = stored<V>(panel[row * ld_panel + i]);
        }
    }
}

/// What bands are made of, whichever way keys and values lie.
struct HeadSizes {
    std::size_t sequence = 0, heads = 0;
    std::size_t width = 0, value = 0;  ///< of a head's query and key, of its value and output
};
HeadSizes heads_of(const AttentionSizes& sizes) {
    return {sizes.sequence, sizes.heads, sizes.head_size, sizes.head_size};
}
HeadSizes heads_of(const LatentAttentionSizes& sizes) {
    return {sizes.sequence, sizes.heads, sizes.query(), sizes.value};
}

/// First head of a key head's group; that of kv_heads is heads.
std::size_t first_head(const AttentionSizes& sizes, std::size_t kv_head) {
    return (kv_head * sizes.heads + sizes.kv_heads - 1) / sizes.kv_heads;
}

template <typename R>
R score_scale(const HeadSizes& sizes) {
    return static_cast<R>(1 / std::sqrt(static_cast<double>(sizes.width)));
}

/// Queries [begin, begin + count) of a sequence, and the keys [0, keys) that some of them see.
struct Band {
    std::size_t begin, count, keys;
};

template <typename Visit>
void for_bands(std::size_t sequence, const Visit& visit) {
    for (std::size_t begin = 0; begin < sequence; begin += kBand) {
        const std::size_t count = std::min(kBand, sequence - begin);
        visit(Band{begin, count, begin + count});
    }
}

/// What a (sequence, head) is computed in: panels [sequence, width] of keys and [sequence, value] of values and of
/// their gradients, a band's rows of queries [kBand, width] and of outputs or of queries' gradients, and its scores
/// [kBand, sequence].
template <typename R>
struct Panels {
    R *k, *v, *dk, *dv;
    R *q, *output, *scores, *d_scores;
    R* shared;  ///< [sequence, shared_width]

    Panels(const HeadSizes& sizes, bool backward, std::size_t shared_width = 0) {
        const std::size_t keys = sizes.sequence * sizes.width, values = sizes.sequence * sizes.value,
                          queries = kBand * sizes.width, outputs = kBand * std::max(sizes.width, sizes.value),
                          block = kBand * sizes.sequence, twice = backward ? 2 : 1,
                          common = sizes.sequence * shared_width;
        R* next = scratch<R>(Scratch::kAttention, (keys + values + block) * twice + queries + outputs + common);
        const auto take = [&next](std::size_t count) { return std::exchange(next, next + count); };
        k = take(keys), v = take(values), q = take(queries), output = take(outputs), scores = take(block);
        dk = backward ? take(keys) : nullptr, dv = backward ? take(values) : nullptr;
        d_scores = backward ? take(block) : nullptr;
        shared = take(common);
    }
};

/// scores[count, keys] = q k^T
template <typename R>
void form_scores(const HeadSizes& sizes, const Band& band, const Panels<R>& panels) {
    gemm(Transpose::kNo, Transpose::kYes, band.count, band.keys, sizes.width, panels.q, sizes.width, panels.k,
         sizes.width, panels.scores, band.keys, false);
}

/// The first `visible` scores of a row become exp(scale * (score - maximum)), the others 0.
template <typename R>
struct RowSoftmax {
    R sum, lse;
};
template <typename R>
RowSoftmax<R> exponentiate(std::size_t visible, std::size_t keys, R scale, R* scores) {
    R maximum = -std::numeric_limits<R>::infinity(), sum = 0;
#pragma omp simd reduction(max : maximum)
    for (std::size_t i = 0; i < visible; ++i) {
        maximum = scores[i] > maximum ? scores[i] : maximum;
    }
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < visible; ++i) {
        scores[i] = exponential(scale * (scores[i] - maximum));
        sum += scores[i];
    }
    std::fill(scores + visible, scores + keys, R{0});
    return {sum, std::log(sum) + scale * maximum};
}

/// output[count, value] and lse of a band; panels.q, k, v are filled.
template <typename V, typename R>
void band_forward(const HeadSizes& sizes, const Band& band, const Panels<R>& panels, V* output, R* lse) {
    const std::size_t width = sizes.value;
    const R scale = score_scale<R>(sizes);
    R sums[kBand];
    form_scores(sizes, band, panels);
    for (std::size_t row = 0; row < band.count; ++row) {
        const RowSoftmax<R> softmax =
            exponentiate(band.begin + row + 1, band.keys, scale, panels.scores + row * band.keys);
        sums[row] = softmax.sum;
        lse[row * sizes.heads] = softmax.lse;
    }
    gemm(Transpose::kNo, Transpose::kNo, band.count, width, band.keys, panels.scores, band.keys, panels.v, width,
         panels.output, width, false);
    for (std::size_t row = 0; row < band.count; ++row) {
        const R inverse = 1 / sums[row];
        for (std::size_t i = 0; i < width; ++i) {
            output[row * sizes.heads * width + i] = stored<V>(panels.output[row * width + i] * inverse);
        }
    }
}

/// scores become probabilities p, d_scores (the products d_output v^T) become scale * p * (d_score - delta).
template <typename R>
void score_gradients(const HeadSizes& sizes, const Band& band, const Panels<R>& panels, const R* delta) {
    const R scale = score_scale<R>(sizes);
    for (std::size_t row = 0; row < band.count; ++row) {
        const R* const p = panels.scores + row * band.keys;
        R* const d = panels.d_scores + row * band.keys;
        const R level = delta[row * sizes.heads];
        for (std::size_t i = 0; i < band.keys; ++i) {
            d[i] = scale * p[i] * (d[i] - level);
        }
    }
}

template <typename R>
void form_probabilities(const HeadSizes& sizes, const Band& band, const Panels<R>& panels, const R* lse) {
    form_scores(sizes, band, panels);
    const R scale = score_scale<R>(sizes);
    for (std::size_t row = 0; row < band.count; ++row) {
        R* const scores = panels.scores + row * band.keys;
        const std::size_t visible = band.begin + row + 1;
        const R level = lse[row * sizes.heads];
        for (std::size_t i = 0; i < visible; ++i) {
            scores[i] = exponential(scale * scores[i] - level);
        }
        std::fill(scores + visible, scores + band.keys, R{0});
    }
}

/// dq[count, width] is written over panels.q's output rows; dk and dv are added to. panels.output holds d_output.
template <typename V, typename R>
void band_backward(const HeadSizes& sizes, const Band& band, const Panels<R>& panels, const R* lse, const R* delta,
                   V* dq, std::size_t ld_dq) {
    const std::size_t width = sizes.width, value = sizes.value, keys = band.keys, count = band.count;
    form_probabilities(sizes, band, panels, lse);
    gemm(Transpose::kYes, Transpose::kNo, keys, value, count, panels.scores, keys, panels.output, value, panels.dv,
         value, true);
    gemm(Transpose::kNo, Transpose::kYes, count, keys, value, panels.output, value, panels.v, value, panels.d_scores,
         keys, false);
    score_gradients(sizes, band, panels, delta);
    gemm(Transpose::kYes, Transpose::kNo, keys, width, count, panels.d_scores, keys, panels.q, width, panels.dk, width,
         true);
    gemm(Transpose::kNo, Transpose::kNo, count, width, keys, panels.d_scores, keys, panels.k, width, panels.output,
         width, false);
    scatter(count, width, panels.output, width, dq, ld_dq);
}

/// delta[row, head] = sum over the head's columns of d_output * output.
template <typename V, typename R>
void row_products(std::size_t token_heads, std::size_t width, const V* output, const V* d_output, R* delta) {
    for (std::size_t n = 0; n < token_heads; ++n) {
        R sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < width; ++i) {
            sum += real(output[n * width + i]) * real(d_output[n * width + i]);
        }
        delta[n] = sum;
    }
}

/// A head of one sequence, whose first token is row `first_row`; q begins at the head's column.
struct Head {
    std::size_t first_row, head, ld_q;
};

template <typename V, typename R>
void head_forward(const HeadSizes& sizes, const Head& at, const Panels<R>& panels, const V* q, V* output, R* lse) {
    for_bands(sizes.sequence, [&](const Band& band) {
        const std::size_t row = at.first_row + band.begin, of_row = row * sizes.heads + at.head;
        gather(band.count, sizes.width, q + row * at.ld_q, at.ld_q, panels.q, sizes.width);
        band_forward(sizes, band, panels, output + of_row * sizes.value, lse + of_row);
    });
}

/// panels.dk and dv are added to; dq begins at the head's column.
template <typename V, typename R>
void head_backward(const HeadSizes& sizes, const Head& at, const Panels<R>& panels, const V* q, const R* lse,
                   const R* delta, const V* d_output, V* dq, std::size_t ld_dq) {
    for_bands(sizes.sequence, [&](const Band& band) {
        const std::size_t row = at.first_row + band.begin, of_row = row * sizes.heads + at.head;
        gather(band.count, sizes.width, q + row * at.ld_q, at.ld_q, panels.q, sizes.width);
        gather(band.count, sizes.value, d_output + of_row * sizes.value, sizes.heads * sizes.value, panels.output,
               sizes.value);
        band_backward(sizes, band, panels, lse + of_row, delta + of_row, dq + row * ld_dq, ld_dq);
    });
}

template <typename R>
void clear_gradients(const HeadSizes& sizes, const Panels<R>& panels) {
    std::fill_n(panels.dk, sizes.sequence * sizes.width, R{0});
    std::fill_n(panels.dv, sizes.sequence * sizes.value, R{0});
}

/// Keys and values of one head, those that heads share behind its own.
template <typename V, typename R>
void gather_latent(const LatentAttentionSizes& sizes, std::size_t first_row, std::size_t head, const V* key_value,
                   const V* shared, const Panels<R>& panels) {
    const std::size_t ld = sizes.ld_key_value(), width = sizes.query();
    const V* const own = key_value + first_row * ld + head * (sizes.plain + sizes.value);
    gather(sizes.sequence, sizes.plain, own, ld, panels.k, width);
    gather(sizes.sequence, sizes.rotated, shared + first_row * sizes.ld_shared, sizes.ld_shared, panels.k + sizes.plain,
           width);
    gather(sizes.sequence, sizes.value, own + sizes.plain, ld, panels.v, sizes.value);
}

/// The gradients of one head's, those of shared keys added to panels.shared.
template <typename V, typename R>
void scatter_latent(const LatentAttentionSizes& sizes, std::size_t first_row, std::size_t head, const Panels<R>& panels,
                    V* d_key_value) {
    const std::size_t ld = sizes.ld_key_value(), width = sizes.query();
    V* const own = d_key_value + first_row * ld + head * (sizes.plain + sizes.value);
    scatter(sizes.sequence, sizes.plain, panels.dk, width, own, ld);
    scatter(sizes.sequence, sizes.value, panels.dv, sizes.value, own + sizes.plain, ld);
    for (std::size_t row = 0; row < sizes.sequence; ++row) {
        for (std::size_t i = 0; i < sizes.rotated; ++i) {
            panels.shared[row * sizes.rotated + i] += panels.dk[row * width + sizes.plain + i];
        }
    }
}

}  // namespace

template <typename V, typename R>
void attention_forward(const AttentionSizes& sizes, const V* q, const V* k, const V* v, V* output, R* lse) {
    record_call("attention_forward", sizes.sequence, 1, sizes.head_size, sizes.sequences * sizes.heads);
    const std::size_t width = sizes.head_size, rows = sizes.sequence;
    const HeadSizes of = heads_of(sizes);
    const Panels<R> panels(of, false);
    for (std::size_t kv_index = 0; kv_index < sizes.sequences * sizes.kv_heads; ++kv_index) {
        const std::size_t first_row = kv_index / sizes.kv_heads * rows, kv_head = kv_index % sizes.kv_heads;
        gather(rows, width, k + first_row * sizes.ld_k + kv_head * width, sizes.ld_k, panels.k, width);
        gather(rows, width, v + first_row * sizes.ld_v + kv_head * width, sizes.ld_v, panels.v, width);
        for (std::size_t head = first_head(sizes, kv_head); head < first_head(sizes, kv_head + 1); ++head) {
            head_forward(of, {first_row, head, sizes.ld_q}, panels, q + head * width, output, lse);
        }
    }
}

template <typename V, typename R>
void attention_backward(const AttentionSizes& sizes, const V* q, const V* k, const V* v, const V* output, const R* lse,
                        const V* d_output, R* delta, V* dq, V* dk, V* dv) {
    record_call("attention_backward", sizes.sequence, 1, sizes.head_size, sizes.sequences * sizes.heads);
    const std::size_t width = sizes.head_size, rows = sizes.sequence;
    const HeadSizes of = heads_of(sizes);
    const Panels<R> panels(of, true);
    row_products(sizes.sequences * rows * sizes.heads, width, output, d_output, delta);
    for (std::size_t kv_index = 0; kv_index < sizes.sequences * sizes.kv_heads; ++kv_index) {
        const std::size_t first_row = kv_index / sizes.kv_heads * rows, kv_head = kv_index % sizes.kv_heads;
        const std::size_t gradient_offset = first_row * sizes.ld_gradient + kv_head * width;
        gather(rows, width, k + first_row * sizes.ld_k + kv_head * width, sizes.ld_k, panels.k, width);
        gather(rows, width, v + first_row * sizes.ld_v + kv_head * width, sizes.ld_v, panels.v, width);
        clear_gradients(of, panels);
        for (std::size_t head = first_head(sizes, kv_head); head < first_head(sizes, kv_head + 1); ++head) {
            head_backward(of, {first_row, head, sizes.ld_q}, panels, q + head * width, lse, delta, d_output,
                          dq + head * width, sizes.ld_gradient);
        }
        scatter(rows, width, panels.dk, width, dk + gradient_offset, sizes.ld_gradient);
        scatter(rows, width, panels.dv, width, dv + gradient_offset, sizes.ld_gradient);
    }
}

template <typename V, typename R>
void latent_attention_forward(const LatentAttentionSizes& sizes, const V* q, const V* key_value, const V* shared,
                              V* output, R* lse) {
    record_call("attention_forward", sizes.sequence, 1, (sizes.query() + sizes.value) / 2,
                sizes.sequences * sizes.heads);
    const HeadSizes of = heads_of(sizes);
    const Panels<R> panels(of, false);
    for (std::size_t index = 0; index < sizes.sequences * sizes.heads; ++index) {
        const std::size_t first_row = index / sizes.heads * sizes.sequence, head = index % sizes.heads;
        gather_latent(sizes, first_row, head, key_value, shared, panels);
        head_forward(of, {first_row, head, sizes.ld_query()}, panels, q + head * sizes.query(), output, lse);
    }
}

template <typename V, typename R>
void latent_attention_backward(const LatentAttentionSizes& sizes, const V* q, const V* key_value, const V* shared,
                               const V* output, const R* lse, const V* d_output, R* delta, V* dq, V* d_key_value,
                               V* d_shared) {
    record_call("attention_backward", sizes.sequence, 1, (sizes.query() + sizes.value) / 2,
                sizes.sequences * sizes.heads);
    const HeadSizes of = heads_of(sizes);
    const Panels<R> panels(of, true, sizes.rotated);
    const std::size_t width = sizes.query(), ld = sizes.ld_query();
    row_products(sizes.sequences * sizes.sequence * sizes.heads, sizes.value, output, d_output, delta);
    for (std::size_t sequence = 0; sequence < sizes.sequences; ++sequence) {
        const std::size_t first_row = sequence * sizes.sequence;
        std::fill_n(panels.shared, sizes.sequence * sizes.rotated, R{0});
        for (std::size_t head = 0; head < sizes.heads; ++head) {
            gather_latent(sizes, first_row, head, key_value, shared, panels);
            clear_gradients(of, panels);
            head_backward(of, {first_row, head, ld}, panels, q + head * width, lse, delta, d_output, dq + head * width,
                          ld);
            scatter_latent(sizes, first_row, head, panels, d_key_value);
        }
        scatter(sizes.sequence, sizes.rotated, panels.shared, sizes.rotated, d_shared + first_row * sizes.rotated,
                sizes.rotated);
    }
}

#define AUSPEX_ATTENTION(V, R)                                                                                   \
    template void attention_forward(const AttentionSizes&, const V*, const V*, const V*, V*, R*);                \
    template void attention_backward(const AttentionSizes&, const V*, const V*, const V*, const V*, const R*,    \
                                     const V*, R*, V*, V*, V*);                                                  \
    template void latent_attention_forward(const LatentAttentionSizes&, const V*, const V*, const V*, V*, R*);   \
    template void latent_attention_backward(const LatentAttentionSizes&, const V*, const V*, const V*, const V*, \
                                            const R*, const V*, R*, V*, V*, V*);
AUSPEX_ATTENTION(float, float)
AUSPEX_ATTENTION(double, double)
AUSPEX_ATTENTION(Bf16, float)
#undef AUSPEX_ATTENTION

}  // namespace auspex::exec
