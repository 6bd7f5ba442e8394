#pragma once
/// @file Activation, sums, embedding.
#include <cstddef>
#include <cstdint>

#include "exec/kernels/scalar.hpp"

namespace auspex::exec {

/// product[rows, width] = silu(gate) * up; gate_up is [rows, 2 width]: gate, then up.
template <typename V>
void swiglu_forward(std::size_t rows, std::size_t width, const V* gate_up, V* product);
/// d_gate_up[rows, 2 width] (written) from d_product[rows, width].
template <typename V>
void swiglu_backward(std::size_t rows, std::size_t width, const V* gate_up, const V* d_product, V* d_gate_up);
/// y[rows, width] = gelu(x) = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3): the tanh form of GPT-2.
template <typename V>
void gelu_forward(std::size_t rows, std::size_t width, const V* x, V* y);
/// dx (written) from dy.
template <typename V>
void gelu_backward(std::size_t rows, std::size_t width, const V* x, const V* dy, V* dx);
/// y[row] += bias[width], for every row; rows are `ld` elements apart, 0: width.
template <typename B, typename V>
void add_bias(std::size_t rows, std::size_t width, const B* bias, V* y, std::size_t ld = 0);
/// gradient[width] += sum over rows of dy, rounded once; rows likewise.
template <typename V, typename G>
void bias_gradient(std::size_t rows, std::size_t width, const V* dy, G* gradient, std::size_t ld = 0);
/// sum = a + b; sum may be a or b.
template <typename V>
void add(std::size_t count, const V* a, const V* b, V* sum);
/// No element is infinite or not a number.
template <typename T>
[[nodiscard]] bool all_finite(std::size_t count, const T* values);
/// Sum of the elements' squares, in double: partial sums over every 32nd element, then added, in an order that
/// depends on `count` alone.
template <typename T>
[[nodiscard]] double square_sum(std::size_t count, const T* values);
/// x[row] = table[token - first_token] where first_token <= token < first_token + rows_of_table, else zeros.
template <typename V>
void embedding_forward(std::size_t rows, std::size_t width, const std::int32_t* tokens, std::int32_t first_token,
                       std::size_t rows_of_table, const V* table, V* x);
/// table_gradient[token - first_token] += dx[row] for tokens of the table.
template <typename V, typename G>
void embedding_backward(std::size_t rows, std::size_t width, const std::int32_t* tokens, std::int32_t first_token,
                        std::size_t rows_of_table, const V* dx, G* table_gradient);

}  // namespace auspex::exec
