#pragma once
/// @file Causal attention by bands of queries: the scores of kBand queries with all keys that some of them see are
/// formed at once, so that the softmax of a row needs no second visit. The backward pass forms them again from the
/// log-sum-exps. Heads are gathered (and widened) into panels of [keys, head_size]; all products are gemm's.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "exec/kernels/attended_rows.hpp"
#include "exec/kernels/exponential.hpp"
#include "exec/kernels/gemm.hpp"
#include "exec/kernels/scalar.hpp"
#include "exec/kernels/scratch.hpp"
#include "models/cpu/cpu_kernel.hpp"

namespace auspex::exec::bands {

inline constexpr std::size_t kBand = models::kAttentionBand;

/// Rows of a sequence by rising position, dealt or not.
class SequenceRows {
 public:
    SequenceRows(std::size_t length, const AttendedRows* dealt, std::size_t window)
        : length_(length), dealt_(dealt), window_(window) {}
    [[nodiscard]] std::size_t queries() const { return dealt_ == nullptr ? length_ : dealt_->queries.size(); }
    [[nodiscard]] std::size_t keys() const { return dealt_ == nullptr ? length_ : dealt_->keys.size(); }
    [[nodiscard]] std::size_t query(std::size_t sequence, std::size_t i) const {
        return dealt_ == nullptr ? sequence * length_ + i : sequence * dealt_->next_queries + dealt_->queries[i];
    }
    [[nodiscard]] std::size_t key(std::size_t sequence, std::size_t i) const {
        return dealt_ == nullptr ? sequence * length_ + i : sequence * dealt_->next_keys + dealt_->keys[i];
    }
    /// Keys that the query sees: up to this one,
    [[nodiscard]] std::size_t visible(std::size_t query) const {
        return dealt_ == nullptr ? query + 1 : dealt_->visible[query];
    }
    /// from this one.
    [[nodiscard]] std::size_t passed(std::size_t query) const {
        if (window_ == 0) {
            return 0;
        }
        return dealt_ != nullptr ? dealt_->passed[query] : query + 1 - std::min(window_, query + 1);
    }

 private:
    std::size_t length_;
    const AttendedRows* dealt_;
    std::size_t window_;
};

/// Columns [0, width) of `rows` rows, the i-th of which is row_of(i), widened, into a panel of `ld_panel` columns.
template <typename V, typename R, typename RowOf>
void gather(std::size_t rows, std::size_t width, const V* from, std::size_t ld, const RowOf& row_of, R* panel,
            std::size_t ld_panel) {
    for (std::size_t row = 0; row < rows; ++row) {
        const V* const at = from + row_of(row) * ld;
        for (std::size_t i = 0; i < width; ++i) {
            panel[row * ld_panel + i] = real(at[i]);
        }
    }
}

/// The way back, rounded; added to what is there if `adds`.
template <typename V, typename R, typename RowOf>
void scatter(std::size_t rows, std::size_t width, const R* panel, std::size_t ld_panel, V* to, std::size_t ld,
             const RowOf& row_of, bool adds) {
    for (std::size_t row = 0; row < rows; ++row) {
        V* const at = to + row_of(row) * ld;
        for (std::size_t i = 0; i < width; ++i) {
            const R value = panel[row * ld_panel + i];
            at[i] = stored<V>(adds ? real(at[i]) + value : value);
        }
    }
}

/// What bands are made of, whichever way keys and values lie.
struct HeadSizes {
    SequenceRows rows;
    std::size_t heads = 0;
    std::size_t width = 0, value = 0;  ///< of a head's query and key, of its value and output
    bool adds = false;                 ///< gradients are added to what is there
};

template <typename R>
R score_scale(const HeadSizes& sizes) {
    return static_cast<R>(1 / std::sqrt(static_cast<double>(sizes.width)));
}

/// Queries [begin, begin + count) of a sequence, and the keys [first, first + keys) that some of them see.
struct Band {
    std::size_t begin, count, first, keys;
};

/// Of a band's keys those that one of its queries sees.
struct SeenKeys {
    std::size_t begin, end;
};
inline SeenKeys seen_by(const SequenceRows& rows, const Band& band, std::size_t row) {
    const std::size_t query = band.begin + row;
    return {rows.passed(query) - band.first, rows.visible(query) - band.first};
}

template <typename Visit>
void for_bands(const SequenceRows& rows, const Visit& visit) {
    for (std::size_t begin = 0; begin < rows.queries(); begin += kBand) {
        const std::size_t count = std::min(kBand, rows.queries() - begin);
        const std::size_t first = rows.passed(begin);
        visit(Band{begin, count, first, rows.visible(begin + count - 1) - first});
    }
}

/// What a (sequence, head) is computed in: panels [keys, width] of keys and [keys, value] of values and of their
/// gradients, a band's rows of queries [kBand, width] and of outputs or of queries' gradients, and its scores
/// [kBand, keys].
template <typename R>
struct Panels {
    R *k, *v, *dk, *dv;
    R *q, *output, *scores, *d_scores;
    R* shared;  ///< [keys, shared_width]

    Panels(const HeadSizes& sizes, bool backward, std::size_t shared_width = 0) {
        const std::size_t length = sizes.rows.keys(), keys = length * sizes.width, values = length * sizes.value,
                          queries = kBand * sizes.width, outputs = kBand * std::max(sizes.width, sizes.value),
                          block = kBand * length, twice = backward ? 2 : 1, common = length * shared_width;
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
    gemm(Transpose::kNo, Transpose::kYes, band.count, band.keys, sizes.width, panels.q, sizes.width,
         panels.k + band.first * sizes.width, sizes.width, panels.scores, band.keys, false);
}

/// The scores of a row that are seen become exp(scale * (score - maximum)), the others 0.
template <typename R>
struct RowSoftmax {
    R sum, lse;
};
template <typename R>
RowSoftmax<R> exponentiate(const SeenKeys& seen, std::size_t keys, R scale, R* scores) {
    R maximum = -std::numeric_limits<R>::infinity(), sum = 0;
#pragma omp simd reduction(max : maximum)
    for (std::size_t i = seen.begin; i < seen.end; ++i) {
        maximum = scores[i] > maximum ? scores[i] : maximum;
    }
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = seen.begin; i < seen.end; ++i) {
        scores[i] = exponential(scale * (scores[i] - maximum));
        sum += scores[i];
    }
    std::fill(scores, scores + seen.begin, R{0});
    std::fill(scores + seen.end, scores + keys, R{0});
    return {sum, seen.begin == seen.end ? maximum : std::log(sum) + scale * maximum};
}

/// Output [value] and lse of a band's rows, row_of(i) of which is that of its i-th query; both begin at the head. Those
/// of a query that sees no key are 0 and minus infinity. panels.q, k, v are filled.
template <typename V, typename R, typename RowOf>
void band_forward(const HeadSizes& sizes, const Band& band, const Panels<R>& panels, V* output, R* lse,
                  const RowOf& row_of) {
    const std::size_t width = sizes.value;
    const R scale = score_scale<R>(sizes);
    R inverses[kBand];
    if (band.keys > 0) {
        form_scores(sizes, band, panels);
    }
    for (std::size_t row = 0; row < band.count; ++row) {
        const RowSoftmax<R> softmax =
            exponentiate(seen_by(sizes.rows, band, row), band.keys, scale, panels.scores + row * band.keys);
        inverses[row] = softmax.sum > 0 || softmax.sum != softmax.sum ? 1 / softmax.sum : 0;
        lse[row_of(row) * sizes.heads] = softmax.lse;
    }
    if (band.keys > 0) {
        gemm(Transpose::kNo, Transpose::kNo, band.count, width, band.keys, panels.scores, band.keys,
             panels.v + band.first * width, width, panels.output, width, false);
    } else {
        std::fill_n(panels.output, band.count * width, R{0});
    }
    for (std::size_t row = 0; row < band.count; ++row) {
        V* const at = output + row_of(row) * sizes.heads * width;
        for (std::size_t i = 0; i < width; ++i) {
            at[i] = stored<V>(panels.output[row * width + i] * inverses[row]);
        }
    }
}

/// scores become probabilities p, d_scores (the products d_output v^T) become scale * p * (d_score - delta).
template <typename R, typename RowOf>
void score_gradients(const HeadSizes& sizes, const Band& band, const Panels<R>& panels, const R* delta,
                     const RowOf& row_of) {
    const R scale = score_scale<R>(sizes);
    for (std::size_t row = 0; row < band.count; ++row) {
        const R* const p = panels.scores + row * band.keys;
        R* const d = panels.d_scores + row * band.keys;
        const R level = delta[row_of(row) * sizes.heads];
        for (std::size_t i = 0; i < band.keys; ++i) {
            d[i] = scale * p[i] * (d[i] - level);
        }
    }
}

template <typename R, typename RowOf>
void form_probabilities(const HeadSizes& sizes, const Band& band, const Panels<R>& panels, const R* lse,
                        const RowOf& row_of) {
    form_scores(sizes, band, panels);
    const R scale = score_scale<R>(sizes);
    for (std::size_t row = 0; row < band.count; ++row) {
        R* const scores = panels.scores + row * band.keys;
        const SeenKeys seen = seen_by(sizes.rows, band, row);
        const R level = lse[row_of(row) * sizes.heads];
        for (std::size_t i = seen.begin; i < seen.end; ++i) {
            scores[i] = exponential(scale * scores[i] - level);
        }
        std::fill(scores, scores + seen.begin, R{0});
        std::fill(scores + seen.end, scores + band.keys, R{0});
    }
}

/// dq [count, width] is written over panels.output, which holds d_output; dk and dv are added to.
template <typename R, typename RowOf>
void band_backward(const HeadSizes& sizes, const Band& band, const Panels<R>& panels, const R* lse, const R* delta,
                   const RowOf& row_of) {
    const std::size_t width = sizes.width, value = sizes.value, keys = band.keys, count = band.count;
    if (keys == 0) {
        std::fill_n(panels.output, count * width, R{0});
        return;
    }
    const std::size_t k = band.first * width, v = band.first * value;
    form_probabilities(sizes, band, panels, lse, row_of);
    gemm(Transpose::kYes, Transpose::kNo, keys, value, count, panels.scores, keys, panels.output, value, panels.dv + v,
         value, true);
    gemm(Transpose::kNo, Transpose::kYes, count, keys, value, panels.output, value, panels.v + v, value,
         panels.d_scores, keys, false);
    score_gradients(sizes, band, panels, delta, row_of);
    gemm(Transpose::kYes, Transpose::kNo, keys, width, count, panels.d_scores, keys, panels.q, width, panels.dk + k,
         width, true);
    gemm(Transpose::kNo, Transpose::kNo, count, width, keys, panels.d_scores, keys, panels.k + k, width, panels.output,
         width, false);
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

/// A head of one sequence.
struct Head {
    std::size_t sequence, head;
};

/// q begins at the head's column.
template <typename V, typename R>
void head_forward(const HeadSizes& sizes, const Head& at, const Panels<R>& panels, const V* q, std::size_t ld_q,
                  V* output, R* lse) {
    for_bands(sizes.rows, [&](const Band& band) {
        const auto row_of = [&](std::size_t i) { return sizes.rows.query(at.sequence, band.begin + i); };
        gather(band.count, sizes.width, q, ld_q, row_of, panels.q, sizes.width);
        band_forward(sizes, band, panels, output + at.head * sizes.value, lse + at.head, row_of);
    });
}

/// panels.dk and dv are added to; q and dq begin at the head's column.
template <typename V, typename R>
void head_backward(const HeadSizes& sizes, const Head& at, const Panels<R>& panels, const V* q, std::size_t ld_q,
                   const R* lse, const R* delta, const V* d_output, V* dq, std::size_t ld_dq) {
    for_bands(sizes.rows, [&](const Band& band) {
        const auto row_of = [&](std::size_t i) { return sizes.rows.query(at.sequence, band.begin + i); };
        gather(band.count, sizes.width, q, ld_q, row_of, panels.q, sizes.width);
        gather(band.count, sizes.value, d_output + at.head * sizes.value, sizes.heads * sizes.value, row_of,
               panels.output, sizes.value);
        band_backward(sizes, band, panels, lse + at.head, delta + at.head, row_of);
        scatter(band.count, sizes.width, panels.output, sizes.width, dq, ld_dq, row_of, sizes.adds);
    });
}

template <typename R>
void clear_gradients(const HeadSizes& sizes, const Panels<R>& panels) {
    std::fill_n(panels.dk, sizes.rows.keys() * sizes.width, R{0});
    std::fill_n(panels.dv, sizes.rows.keys() * sizes.value, R{0});
}

/// Keys for a query: as many as there are queries under a causal mask, or a multiple of them.
inline std::size_t keys_for_queries(const SequenceRows& rows) { return rows.keys() / rows.queries(); }

}  // namespace auspex::exec::bands
