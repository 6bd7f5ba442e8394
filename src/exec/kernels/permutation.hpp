#pragma once
/// @file Bringing tokens into the order of experts, and back. A slot is one choice of one token: token * top_k +
/// choice. A row is a slot whose expert is among those looked at, which a dropped choice (a negative number) never is;
/// rows are sorted by expert and, of one expert, by
/// slot.
#include <cstddef>
#include <cstdint>

#include "exec/kernels/scalar.hpp"
#include "models/plan.hpp"

namespace auspex::exec {

/// offsets[experts + 1]: first row of each of the experts [first_expert, first_expert + experts); the last is the
/// number of rows.
void count_choices(std::size_t slots, const std::int64_t* choices, std::int64_t first_expert, std::size_t experts,
                   std::int64_t* offsets);
/// row_slots[rows]: the slot of each row, by one counting sort.
void sort_slots(std::size_t slots, const std::int64_t* choices, std::int64_t first_expert, std::size_t experts,
                const std::int64_t* offsets, std::int32_t* row_slots);

/// mask[N, top_k, tokens] = 1 where the choice is the expert, else 0. As in the Hugging Face block it is a view of
/// [tokens, top_k, N], in which the numbers of an expert lie far apart.
void one_hot_mask(std::size_t tokens, std::size_t top_k, std::size_t all_experts, const std::int64_t* choices,
                  std::int64_t* mask);
/// Slots of one expert, in order, by a search of the mask; returns how many.
std::size_t find_in_mask(std::size_t tokens, std::size_t top_k, std::size_t all_experts, std::size_t expert,
                         const std::int64_t* mask, std::int32_t* row_slots);

/// Where rows stand in another array: row r at index[r] / divisor, or at r without an index.
struct RowOrder {
    const std::int32_t* index = nullptr;
    std::size_t divisor = 1;
    [[nodiscard]] std::size_t of(std::size_t row) const {
        return index == nullptr ? row : static_cast<std::size_t>(index[row]) / divisor;
    }
    /// The order of an array that begins with row `first`.
    [[nodiscard]] RowOrder from(std::size_t first) const {
        return {index == nullptr ? nullptr : index + first, divisor};
    }
};
struct RowRange {
    std::size_t begin = 0, end = 0;
    [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// to[r] = from[order.of(r)] for the rows r of the range.
template <typename V>
void gather_rows(RowRange range, std::size_t width, const V* from, RowOrder order, V* to);
/// to[order.of(r)] = from[r]
template <typename V>
void scatter_rows(RowRange range, std::size_t width, const V* from, RowOrder order, V* to);
/// to[order.of(r)] += from[r], times weights[index of r] unless they are null.
template <typename V, typename R>
void scatter_add_rows(RowRange range, std::size_t width, const V* from, RowOrder order, const R* weights, V* to);

/// Rows of a group of experts, as above, with what they were made from.
struct Assignment {
    std::size_t tokens = 0, top_k = 0;
    std::int64_t first_expert = 0;
    std::size_t experts = 0;
    const std::int64_t* choices = nullptr;  ///< [tokens, top_k]
    const std::int64_t* offsets = nullptr;
    const std::int32_t* row_slots = nullptr;
    [[nodiscard]] RowOrder tokens_of_rows() const { return {row_slots, top_k}; }
    [[nodiscard]] RowRange rows() const { return {0, static_cast<std::size_t>(offsets[experts])}; }
};

/// sums[tokens, width] = sum over a token's rows, from the lowest expert up, of row * weights[slot] (times 1 where
/// weights are null). kFused rounds each sum once, the others after every addition.
template <typename V, typename R>
void sum_rows(models::ExpertKernels kernels, const Assignment& assignment, std::size_t width, const V* rows,
              const R* weights, V* sums);
/// Gradients of the weighted sum, for the rows of the range: d_rows[row] = weights[slot] * d_sums[token];
/// d_weights[slot] = <d_sums[token], row>; slots without a row are left alone. kFused: one pass, else gather, products,
/// scaling.
template <typename V, typename R>
void sum_rows_backward(models::ExpertKernels kernels, const Assignment& assignment, RowRange range, std::size_t width,
                       const V* d_sums, const V* rows, const R* weights, V* d_rows, R* d_weights);

}  // namespace auspex::exec
