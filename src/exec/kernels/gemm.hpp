#pragma once
/// @file Matrix products: the one seam to the linear-algebra library.
#include <cstddef>

#include "exec/kernels/call_record.hpp"
#include "exec/kernels/scalar.hpp"

namespace auspex::exec {

enum class Transpose { kNo, kYes };

/// C[m, n] (+)= op(A)[m, k] op(B)[k, n], row-major, leading dimensions in elements. Any mix of float, Bf16 (or all
/// double): operands are widened to Real, products are summed in Real, the result is rounded once; with `accumulate` it
/// is added to C in Real and rounded. Zero m, n: nothing; zero k: C is cleared unless accumulate. One thread. Memory
/// that the library and the widening need is not in any arena (gemm_scratch_bytes).
template <typename A, typename B, typename C>
void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, const A* a,
          std::size_t lda, const B* b, std::size_t ldb, C* c, std::size_t ldc, bool accumulate);

/// y[rows, out] = x[rows, in] w[out, in]^T
template <typename X, typename W, typename Y>
void linear_forward(std::size_t rows, std::size_t out, std::size_t in, const X* x, const W* w, Y* y) {
    record_call("linear_forward", rows, out, in);
    gemm(Transpose::kNo, Transpose::kYes, rows, out, in, x, in, w, in, y, out, false);
}
/// dx[rows, in] (+)= dy[rows, out] w[out, in]; rows of dx are `ld_dx` elements apart, 0: in
template <typename DY, typename W, typename DX>
void linear_input_gradient(std::size_t rows, std::size_t out, std::size_t in, const DY* dy, const W* w, DX* dx,
                           bool accumulate = false, std::size_t ld_dx = 0) {
    record_call("linear_input_gradient", rows, in, out);
    gemm(Transpose::kNo, Transpose::kNo, rows, in, out, dy, out, w, in, dx, ld_dx == 0 ? in : ld_dx, accumulate);
}
/// dw[out, in] += dy[rows, out]^T x[rows, in]
template <typename DY, typename X, typename G>
void linear_weight_gradient(std::size_t rows, std::size_t out, std::size_t in, const DY* dy, const X* x, G* dw) {
    record_call("linear_weight_gradient", out, in, rows);
    gemm(Transpose::kYes, Transpose::kNo, out, in, rows, dy, out, x, in, dw, in, true);
}

/// Bytes that this thread keeps for widened operands.
[[nodiscard]] std::size_t gemm_scratch_bytes();

}  // namespace auspex::exec
