#pragma once
/// @file The experts' products over rows that are sorted by expert, forward and backward, three ways: kLoop, expert by
/// expert and kernel by kernel, as the OlmoeSparseMoeBlock of Hugging Face does it (but that no scaled copy of the
/// outputs is made); kGrouped, one pass after another over all rows; kFused, block of rows by block of rows through all
/// passes, while they are in the cache.
#include <cstddef>
#include <cstdint>

#include "exec/kernels/permutation.hpp"
#include "exec/kernels/scalar.hpp"
#include "models/plan.hpp"

namespace auspex::exec {

/// Expert e has gate_up [width, hidden] (gate, then up; of GELU one layer) at weights + e * stride and down [hidden,
/// inner] behind it, then with biases those of gate_up [width] and of down, of which the rank adds the part
/// [bias_begin, bias_begin + bias_width) of the columns: the ranks that split an expert add the others. Its gradients
/// have the same layout. Its rows are [offsets[e], offsets[e + 1]).
struct ExpertShape {
    std::size_t experts = 0, hidden = 0, inner = 0, stride = 0;
    const std::int64_t* offsets = nullptr;
    std::size_t gates = 2;                       ///< linear layers in front of the activation: SwiGLU 2, GELU 1
    std::size_t bias_begin = 0, bias_width = 0;  ///< width 0: no biases
    [[nodiscard]] std::size_t width() const { return gates * inner; }
    [[nodiscard]] bool biased() const { return bias_width > 0; }
    [[nodiscard]] RowRange rows() const { return {0, static_cast<std::size_t>(offsets[experts])}; }
    [[nodiscard]] RowRange rows_of(std::size_t expert) const {
        return {static_cast<std::size_t>(offsets[expert]), static_cast<std::size_t>(offsets[expert + 1])};
    }
};

/// gate_up [rows, width] = permuted W_gate_up^T; product [rows, inner] = silu(gate) * up, or gelu of it; outputs [rows,
/// hidden] = product W_down^T, where permuted[r] = source[order.of(r)]. Without an index the source is sorted already,
/// and permuted is neither read nor written. `returned`, unless null, gets outputs[r] at order.of(r).
template <typename V>
struct ExpertForward {
    const V* source = nullptr;
    RowOrder order;
    V *permuted = nullptr, *gate_up = nullptr, *product = nullptr, *outputs = nullptr;
    V* returned = nullptr;
};
template <typename V>
void expert_forward(models::ExpertKernels kernels, const ExpertShape& shape, const V* weights,
                    const ExpertForward<V>& x);

/// d_product [rows, inner] = d_rows W_down; d_gate_up [rows, width] through the activation; d_permuted [rows, hidden]
/// = d_gate_up W_gate_up. `arrived`, unless null, holds d_rows[r] at order.of(r), and d_rows is filled from it;
/// `returned`, unless null, gets d_permuted[r] at order.of(r); `d_tokens` [tokens, hidden], unless null, the sum of
/// d_permuted's rows by token of `assignment` (not with kLoop: loop_backward). With kFused d_product, and d_permuted
/// where one of these two is given, are left unfinished.
template <typename V>
struct ExpertBackward {
    const V* arrived = nullptr;
    RowOrder order;
    const V* gate_up = nullptr;
    V *d_rows = nullptr, *d_product = nullptr, *d_gate_up = nullptr, *d_permuted = nullptr;
    V* returned = nullptr;
    const Assignment* assignment = nullptr;
    V* d_tokens = nullptr;
};
template <typename V>
void expert_backward(models::ExpertKernels kernels, const ExpertShape& shape, const V* weights,
                     const ExpertBackward<V>& x);

/// The backward pass of kLoop where outputs were summed by token on this rank: per expert, gradients of the sum
/// (sum_rows_backward) into d_rows and d_weights, the products of expert_backward, and the rows added to d_tokens
/// [tokens, hidden] by way of a zeroed tensor of that size, `one_expert`. d_tokens is written.
template <typename V, typename R>
struct LoopGradients {
    const V *d_sums = nullptr, *outputs = nullptr;
    const R* weights = nullptr;
    R* d_weights = nullptr;
    V *one_expert = nullptr, *d_tokens = nullptr;
};
template <typename V, typename R>
void loop_backward(const ExpertShape& shape, const Assignment& assignment, const V* weights, const ExpertBackward<V>& x,
                   const LoopGradients<V, R>& sums);

/// The activation alone, as expert_forward does it: gate_up [rows, gates inner] to product [rows, inner].
template <typename V>
void expert_activation(models::ExpertKernels kernels, std::size_t rows, std::size_t gates, std::size_t inner,
                       const V* gate_up, V* product);

// expert_activation.cpp

/// Rows [rows] of gate_up [gates inner] to product [inner]. kLoop does SwiGLU as the kernels of a framework: SiLU, then
/// the product, rounded in between.
template <typename V>
void activate_experts(models::ExpertKernels kernels, RowRange rows, std::size_t gates, std::size_t inner,
                      const V* gate_up, V* product);
/// d_gate_up (written) from d_product, whose first row is that of the range.
template <typename V>
void activate_experts_backward(models::ExpertKernels kernels, RowRange rows, std::size_t gates, std::size_t inner,
                               const V* gate_up, const V* d_product, V* d_gate_up);

/// Gradients of the experts' weights: W_down += d_rows^T product, W_gate_up += d_gate_up^T rows, biases their sums over
/// rows; rows [rows, hidden] sorted by expert.
template <typename V, typename G>
void expert_weight_gradients(models::ExpertKernels kernels, const ExpertShape& shape, const V* rows, const V* product,
                             const V* d_rows, const V* d_gate_up, G* gradients);

}  // namespace auspex::exec
