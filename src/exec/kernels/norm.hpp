#pragma once
/// @file RMS norm and layer norm, of rows and of queries and keys.
#include <cstddef>

#include "exec/kernels/scalar.hpp"
#include "models/workload.hpp"

namespace auspex::exec {

/// y = x / sqrt(mean(x^2) + epsilon) * weight (kRms), or (x - mean) / sqrt(variance + epsilon), as it is
/// (kNonParametric, weight null) or * weight + bias (kLayer; the biases lie behind the weights). Rows of `width`; those
/// of y are `ldy` elements apart, 0: width.
template <typename V>
void norm_forward(models::NormKind kind, std::size_t rows, std::size_t width, double epsilon, const V* x,
                  const V* weight, V* y, std::size_t ldy = 0);
/// dx (written) and weight_gradient (added to; laid out as weight is, null with kNonParametric) from dy, whose rows are
/// `lddy` apart.
template <typename V, typename G>
void norm_backward(models::NormKind kind, std::size_t rows, std::size_t width, double epsilon, const V* x,
                   const V* weight, const V* dy, V* dx, G* weight_gradient, std::size_t lddy = 0);

// Queries and keys: RMS norm over the whole width (all heads of all tp ranks), of which a rank has columns [0, width).
// Sums are [rows, 2]: `which` 0 queries, 1 keys.

/// sums[row, which] = sum over the rank's columns of x^2.
template <typename V, typename R>
void square_sums(std::size_t rows, std::size_t width, const V* x, std::size_t ldx, R* sums, int which);
/// y = x / sqrt(sums / whole_width + epsilon) * weight
template <typename V, typename R>
void qk_norm_forward(std::size_t rows, std::size_t width, std::size_t whole_width, double epsilon, const V* x,
                     std::size_t ldx, const V* weight, const R* sums, int which, V* y, std::size_t ldy);
/// products[row, which] = sum over the rank's columns of dy weight x.
template <typename V, typename R>
void qk_norm_products(std::size_t rows, std::size_t width, const V* x, std::size_t ldx, const V* weight, const V* dy,
                      std::size_t lddy, R* products, int which);
/// In place: dy becomes dx = r weight dy - x r^3 products / whole_width with r = 1 / sqrt(sums / whole_width +
/// epsilon); weight_gradient += sum over rows of dy x r.
template <typename V, typename R, typename G>
void qk_norm_backward(std::size_t rows, std::size_t width, std::size_t whole_width, double epsilon, const V* x,
                      std::size_t ldx, const V* weight, const R* sums, const R* products, int which, V* dy,
                      std::size_t lddy, G* weight_gradient);

}  // namespace auspex::exec
