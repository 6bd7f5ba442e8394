/// @file Counting, indices, and the movement of rows between the order of tokens and that of experts.
#include "exec/kernels/permutation.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "exec/kernels/call_record.hpp"

namespace auspex::exec {
namespace {

template <typename V>
auto dot(std::size_t width, const V* a, const V* b) {
    decltype(real(V{})) sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < width; ++i) {
        sum += real(a[i]) * real(b[i]);
    }
    return sum;
}

template <typename V, typename R>
void scale_row(std::size_t width, const V* from, R weight, V* to) {
    for (std::size_t i = 0; i < width; ++i) {
        to[i] = stored<V>(real(from[i]) * weight);
    }
}

/// Rows of each token in ascending order, found by walking the tokens: the rows of an expert are in the order of slots,
/// so that its next row is the next slot that chose it.
class RowsOfTokens {
 public:
    explicit RowsOfTokens(const Assignment& assignment)
        : assignment_(assignment), next_(assignment.offsets, assignment.offsets + assignment.experts) {
        rows_.reserve(assignment.top_k);
    }
    const std::vector<std::size_t>& advance() {
        rows_.clear();
        const std::int64_t* choices = assignment_.choices + token_++ * assignment_.top_k;
        for (std::size_t j = 0; j < assignment_.top_k; ++j) {
            const auto expert = static_cast<std::size_t>(choices[j] - assignment_.first_expert);
            if (expert < assignment_.experts) {
                rows_.push_back(static_cast<std::size_t>(next_[expert]++));
            }
        }
        std::sort(rows_.begin(), rows_.end());
        return rows_;
    }

 private:
    const Assignment& assignment_;
    std::vector<std::int64_t> next_;
    std::vector<std::size_t> rows_;
    std::size_t token_ = 0;
};

template <typename V, typename R>
void sum_by_token(const Assignment& assignment, std::size_t width, const V* rows, const R* weights, V* sums) {
    RowsOfTokens rows_of_tokens(assignment);
    std::vector<R> sum(width);
    for (std::size_t token = 0; token < assignment.tokens; ++token, sums += width) {
        std::fill(sum.begin(), sum.end(), R{0});
        for (const std::size_t row : rows_of_tokens.advance()) {
            const V* from = rows + row * width;
            const R weight = weights == nullptr ? R{1} : weights[assignment.row_slots[row]];
            for (std::size_t i = 0; i < width; ++i) {
                sum[i] += real(from[i]) * weight;
            }
        }
        for (std::size_t i = 0; i < width; ++i) {
            sums[i] = stored<V>(sum[i]);
        }
    }
}

}  // namespace

void count_choices(std::size_t slots, const std::int64_t* choices, std::int64_t first_expert, std::size_t experts,
                   std::int64_t* offsets) {
    record_call("count_choices", slots, experts);
    std::fill_n(offsets, experts + 1, std::int64_t{0});
    for (std::size_t slot = 0; slot < slots; ++slot) {
        const auto expert = static_cast<std::size_t>(choices[slot] - first_expert);
        if (expert < experts) {
            ++offsets[expert + 1];
        }
    }
    for (std::size_t e = 0; e < experts; ++e) {
        offsets[e + 1] += offsets[e];
    }
}

void sort_slots(std::size_t slots, const std::int64_t* choices, std::int64_t first_expert, std::size_t experts,
                const std::int64_t* offsets, std::int32_t* row_slots) {
    record_call("sort_slots", slots, experts);
    std::vector<std::int64_t> next(offsets, offsets + experts);
    for (std::size_t slot = 0; slot < slots; ++slot) {
        const auto expert = static_cast<std::size_t>(choices[slot] - first_expert);
        if (expert < experts) {
            row_slots[next[expert]++] = static_cast<std::int32_t>(slot);
        }
    }
}

void one_hot_mask(std::size_t tokens, std::size_t top_k, std::size_t all_experts, const std::int64_t* choices,
                  std::int64_t* mask) {
    record_call("one_hot_mask", tokens, all_experts, top_k);
    const std::size_t slots = tokens * top_k;
    std::fill_n(mask, slots * all_experts, std::int64_t{0});
    for (std::size_t slot = 0; slot < slots; ++slot) {
        if (choices[slot] >= 0) {
            mask[slot * all_experts + static_cast<std::size_t>(choices[slot])] = 1;
        }
    }
}

std::size_t find_in_mask(std::size_t tokens, std::size_t top_k, std::size_t all_experts, std::size_t expert,
                         const std::int64_t* mask, std::int32_t* row_slots) {
    record_call("find_in_mask", tokens, all_experts, top_k);
    const std::size_t slots = tokens * top_k;
    std::size_t found = 0;
    for (std::size_t slot = 0; slot < slots; ++slot) {
        if (mask[slot * all_experts + expert] != 0) {
            row_slots[found++] = static_cast<std::int32_t>(slot);
        }
    }
    return found;
}

template <typename V>
void gather_rows(RowRange range, std::size_t width, const V* from, RowOrder order, V* to) {
    record_call("gather_rows", range.size(), width);
    for (std::size_t row = range.begin; row < range.end; ++row) {
        std::copy_n(from + order.of(row) * width, width, to + row * width);
    }
}

template <typename V>
void scatter_rows(RowRange range, std::size_t width, const V* from, RowOrder order, V* to) {
    record_call("scatter_rows", range.size(), width);
    for (std::size_t row = range.begin; row < range.end; ++row) {
        std::copy_n(from + row * width, width, to + order.of(row) * width);
    }
}

template <typename V, typename R>
void scatter_add_rows(RowRange range, std::size_t width, const V* from, RowOrder order, const R* weights, V* to) {
    record_call("scatter_add_rows", range.size(), width);
    for (std::size_t row = range.begin; row < range.end; ++row) {
        const V* source = from + row * width;
        V* sum = to + order.of(row) * width;
        const R weight = weights == nullptr ? R{1} : weights[order.index[row]];
        for (std::size_t i = 0; i < width; ++i) {
            sum[i] = stored<V>(real(sum[i]) + real(source[i]) * weight);
        }
    }
}

template <typename V, typename R>
void sum_rows(models::ExpertKernels kernels, const Assignment& assignment, std::size_t width, const V* rows,
              const R* weights, V* sums) {
    const RecordedScope scope(kernels == models::ExpertKernels::kFused ? "sum_rows_fused" : "sum_rows",
                              assignment.tokens, width, assignment.rows().size());
    // Where nothing is rounded between additions both give the same bits, and reading rows in their order is faster.
    constexpr bool kRounds = !std::is_same_v<V, R>;
    if (kRounds && kernels == models::ExpertKernels::kFused) {
        sum_by_token(assignment, width, rows, weights, sums);
    } else {
        std::fill_n(sums, assignment.tokens * width, V{});
        scatter_add_rows(assignment.rows(), width, rows, assignment.tokens_of_rows(), weights, sums);
    }
}

template <typename V, typename R>
void sum_rows_backward(models::ExpertKernels kernels, const Assignment& assignment, RowRange range, std::size_t width,
                       const V* d_sums, const V* rows, const R* weights, V* d_rows, R* d_weights) {
    const RecordedScope scope(
        kernels == models::ExpertKernels::kFused ? "sum_rows_backward_fused" : "sum_rows_backward", range.size(),
        width);
    const RowOrder order = assignment.tokens_of_rows();
    const bool fused = kernels == models::ExpertKernels::kFused;
    if (!fused) {
        gather_rows(range, width, d_sums, order, d_rows);
    }
    for (std::size_t row = range.begin; row < range.end; ++row) {
        const V* d_sum = fused ? d_sums + order.of(row) * width : d_rows + row * width;
        const std::int32_t slot = assignment.row_slots[row];
        d_weights[slot] = dot(width, d_sum, rows + row * width);
        if (fused) {
            scale_row(width, d_sum, weights[slot], d_rows + row * width);
        }
    }
    for (std::size_t row = range.begin; !fused && row < range.end; ++row) {
        scale_row(width, d_rows + row * width, weights[assignment.row_slots[row]], d_rows + row * width);
    }
}

#define AUSPEX_INSTANTIATE(V, R)                                                                                     \
    template void gather_rows<V>(RowRange, std::size_t, const V*, RowOrder, V*);                                     \
    template void scatter_rows<V>(RowRange, std::size_t, const V*, RowOrder, V*);                                    \
    template void scatter_add_rows<V, R>(RowRange, std::size_t, const V*, RowOrder, const R*, V*);                   \
    template void sum_rows<V, R>(models::ExpertKernels, const Assignment&, std::size_t, const V*, const R*, V*);     \
    template void sum_rows_backward<V, R>(models::ExpertKernels, const Assignment&, RowRange, std::size_t, const V*, \
                                          const V*, const R*, V*, R*);
AUSPEX_INSTANTIATE(float, float)
AUSPEX_INSTANTIATE(double, double)
AUSPEX_INSTANTIATE(Bf16, float)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
