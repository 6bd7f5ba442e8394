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

/// Columns [0, width) of `rows` rows, widened, without gaps.
template <typename V, typename R>
void gather(std::size_t rows, std::size_t width, const V* from, std::size_t ld, R* panel) {
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < width; ++i) {
            panel[row * width + i] = real(from[row * ld + i]);
        }
    }
}

/// The way back, rounded.
template <typename V, typename R>
void scatter(std::size_t rows, std::size_t width, const R* panel, V* to, std::size_t ld) {
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < width; ++i) {
            to[row * ld + i] = stored<V>(panel[row * width + i]);
        }
    }
}

/// First head of a key head's group; that of kv_heads is heads.
std::size_t first_head(const AttentionSizes& sizes, std::size_t kv_head) {
    return (kv_head * sizes.heads + sizes.kv_heads - 1) / sizes.kv_heads;
}

template <typename R>
R score_scale(const AttentionSizes& sizes) {
    return static_cast<R>(1 / std::sqrt(static_cast<double>(sizes.head_size)));
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

/// What a (sequence, head) is computed in: panels [sequence, head_size] of keys and values and of their gradients, a
/// band's rows [kBand, head_size], and its scores [kBand, sequence].
template <typename R>
struct Panels {
    R *k, *v, *dk, *dv;
    R *q, *output, *scores, *d_scores;

    Panels(const AttentionSizes& sizes, bool backward) {
        const std::size_t panel = sizes.sequence * sizes.head_size, rows = kBand * sizes.head_size,
                          block = kBand * sizes.sequence, twice = backward ? 2 : 1;
        R* next = scratch<R>(Scratch::kAttention, (2 * panel + block) * twice + 2 * rows);
        const auto take = [&next](std::size_t count) { return std::exchange(next, next + count); };
        k = take(panel), v = take(panel), q = take(rows), output = take(rows), scores = take(block);
        dk = backward ? take(panel) : nullptr, dv = backward ? take(panel) : nullptr;
        d_scores = backward ? take(block) : nullptr;
    }
};

/// scores[count, keys] = q k^T
template <typename R>
void form_scores(const AttentionSizes& sizes, const Band& band, const Panels<R>& panels) {
    gemm(Transpose::kNo, Transpose::kYes, band.count, band.keys, sizes.head_size, panels.q, sizes.head_size, panels.k,
         sizes.head_size, panels.scores, band.keys, false);
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

/// output[count, head_size] and lse of a band; panels.q, k, v are filled.
template <typename V, typename R>
void band_forward(const AttentionSizes& sizes, const Band& band, const Panels<R>& panels, V* output, R* lse) {
    const std::size_t width = sizes.head_size;
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
void score_gradients(const AttentionSizes& sizes, const Band& band, const Panels<R>& panels, const R* delta) {
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
void form_probabilities(const AttentionSizes& sizes, const Band& band, const Panels<R>& panels, const R* lse) {
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

/// dq[count, head_size] is written over panels.q's output rows; dk and dv are added to. panels.output holds d_output.
template <typename V, typename R>
void band_backward(const AttentionSizes& sizes, const Band& band, const Panels<R>& panels, const R* lse, const R* delta,
                   V* dq) {
    const std::size_t width = sizes.head_size, keys = band.keys, count = band.count;
    form_probabilities(sizes, band, panels, lse);
    gemm(Transpose::kYes, Transpose::kNo, keys, width, count, panels.scores, keys, panels.output, width, panels.dv,
         width, true);
    gemm(Transpose::kNo, Transpose::kYes, count, keys, width, panels.output, width, panels.v, width, panels.d_scores,
         keys, false);
    score_gradients(sizes, band, panels, delta);
    gemm(Transpose::kYes, Transpose::kNo, keys, width, count, panels.d_scores, keys, panels.q, width, panels.dk, width,
         true);
    gemm(Transpose::kNo, Transpose::kNo, count, width, keys, panels.d_scores, keys, panels.k, width, panels.output,
         width, false);
    scatter(count, width, panels.output, dq, sizes.ld_gradient);
}

/// delta[row, head] = sum over the head's columns of d_output * output.
template <typename V, typename R>
void row_products(const AttentionSizes& sizes, const V* output, const V* d_output, R* delta) {
    const std::size_t token_heads = sizes.sequences * sizes.sequence * sizes.heads, width = sizes.head_size;
    for (std::size_t n = 0; n < token_heads; ++n) {
        R sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < width; ++i) {
            sum += real(output[n * width + i]) * real(d_output[n * width + i]);
        }
        delta[n] = sum;
    }
}

}  // namespace

template <typename V, typename R>
void attention_forward(const AttentionSizes& sizes, const V* q, const V* k, const V* v, V* output, R* lse) {
    record_call("attention_forward", sizes.sequence, 1, sizes.head_size, sizes.sequences * sizes.heads);
    const std::size_t width = sizes.head_size, rows = sizes.sequence;
    const Panels<R> panels(sizes, false);
    for (std::size_t kv_index = 0; kv_index < sizes.sequences * sizes.kv_heads; ++kv_index) {
        const std::size_t first_row = kv_index / sizes.kv_heads * rows, kv_head = kv_index % sizes.kv_heads;
        gather(rows, width, k + first_row * sizes.ld_k + kv_head * width, sizes.ld_k, panels.k);
        gather(rows, width, v + first_row * sizes.ld_v + kv_head * width, sizes.ld_v, panels.v);
        for (std::size_t head = first_head(sizes, kv_head); head < first_head(sizes, kv_head + 1); ++head) {
            for_bands(rows, [&](const Band& band) {
                const std::size_t row = first_row + band.begin;
                gather(band.count, width, q + row * sizes.ld_q + head * width, sizes.ld_q, panels.q);
                band_forward(sizes, band, panels, output + (row * sizes.heads + head) * width,
                             lse + row * sizes.heads + head);
            });
        }
    }
}

template <typename V, typename R>
void attention_backward(const AttentionSizes& sizes, const V* q, const V* k, const V* v, const V* output, const R* lse,
                        const V* d_output, R* delta, V* dq, V* dk, V* dv) {
    record_call("attention_backward", sizes.sequence, 1, sizes.head_size, sizes.sequences * sizes.heads);
    const std::size_t width = sizes.head_size, rows = sizes.sequence;
    const Panels<R> panels(sizes, true);
    row_products(sizes, output, d_output, delta);
    for (std::size_t kv_index = 0; kv_index < sizes.sequences * sizes.kv_heads; ++kv_index) {
        const std::size_t first_row = kv_index / sizes.kv_heads * rows, kv_head = kv_index % sizes.kv_heads;
        const std::size_t gradient_offset = first_row * sizes.ld_gradient + kv_head * width;
        gather(rows, width, k + first_row * sizes.ld_k + kv_head * width, sizes.ld_k, panels.k);
        gather(rows, width, v + first_row * sizes.ld_v + kv_head * width, sizes.ld_v, panels.v);
        std::fill_n(panels.dk, rows * width, R{0});
        std::fill_n(panels.dv, rows * width, R{0});
        for (std::size_t head = first_head(sizes, kv_head); head < first_head(sizes, kv_head + 1); ++head) {
            for_bands(rows, [&](const Band& band) {
                const std::size_t row = first_row + band.begin, column = head * width;
                const std::size_t of_row = row * sizes.heads + head;
                gather(band.count, width, q + row * sizes.ld_q + column, sizes.ld_q, panels.q);
                gather(band.count, width, d_output + of_row * width, sizes.heads * width, panels.output);
                band_backward(sizes, band, panels, lse + of_row, delta + of_row, dq + row * sizes.ld_gradient + column);
            });
        }
        scatter(rows, width, panels.dk, dk + gradient_offset, sizes.ld_gradient);
        scatter(rows, width, panels.dv, dv + gradient_offset, sizes.ld_gradient);
    }
}

#define AUSPEX_ATTENTION(V, R)                                                                                \
    template void attention_forward(const AttentionSizes&, const V*, const V*, const V*, V*, R*);             \
    template void attention_backward(const AttentionSizes&, const V*, const V*, const V*, const V*, const R*, \
                                     const V*, R*, V*, V*, V*);
AUSPEX_ATTENTION(float, float)
AUSPEX_ATTENTION(double, double)
AUSPEX_ATTENTION(Bf16, float)
#undef AUSPEX_ATTENTION

}  // namespace auspex::exec
