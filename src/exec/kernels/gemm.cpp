/// @file Matrix products on oneDNN (float) and Eigen (double; float too in a build without oneDNN, which has no
/// trainer). dnnl_sgemm because on one AVX-512 core it is 1.3 to 1.7 times as fast as Eigen at the shapes of training
/// (bench/kernel_bench.cpp; as fast at 64 x 64 x 64), and because, unlike OpenBLAS, whose speed is close, it takes its
/// number of threads from the calling thread alone.
#include "exec/kernels/gemm.hpp"

#ifndef AUSPEX_WITHOUT_ONEDNN
#include <dnnl.h>
#endif

#include <Eigen/Core>
#include <new>
#include <type_traits>

#include "base/error.hpp"
#include "exec/kernels/scratch.hpp"

#ifndef AUSPEX_WITHOUT_ONEDNN
/// Of the OpenMP runtime that oneDNN runs on.
extern "C" void omp_set_num_threads(int);
#endif

namespace auspex::exec {
namespace {

/// Sizes of a product, k > 0.
struct Shape {
    Transpose transpose_a, transpose_b;
    std::size_t m, n, k;
};

template <class T>
void eigen_product(const Shape& s, const T* a, std::size_t lda, const T* b, std::size_t ldb, T* c, std::size_t ldc,
                   bool accumulate) {
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto view = [](auto* data, std::size_t rows, std::size_t columns, std::size_t stride) {
        using Viewed = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(data)>>, const Matrix, Matrix>;
        return Eigen::Map<Viewed, 0, Eigen::OuterStride<>>(data, static_cast<Eigen::Index>(rows),
                                                           static_cast<Eigen::Index>(columns),
                                                           Eigen::OuterStride<>(static_cast<Eigen::Index>(stride)));
    };
    const bool ta = s.transpose_a == Transpose::kYes, tb = s.transpose_b == Transpose::kYes;
    const auto left = view(a, ta ? s.k : s.m, ta ? s.m : s.k, lda),
               right = view(b, tb ? s.n : s.k, tb ? s.k : s.n, ldb);
    auto result = view(c, s.m, s.n, ldc);
    if (!accumulate) {
        result.setZero();
    }
    if (ta && tb) {
        result.noalias() += left.transpose() * right.transpose();
    } else if (ta) {
        result.noalias() += left.transpose() * right;
    } else if (tb) {
        result.noalias() += left * right.transpose();
    } else {
        result.noalias() += left * right;
    }
}

#ifdef AUSPEX_WITHOUT_ONEDNN
void product(const Shape& s, const float* a, std::size_t lda, const float* b, std::size_t ldb, float* c,
             std::size_t ldc, bool accumulate) {
    eigen_product(s, a, lda, b, ldb, c, ldc, accumulate);
}
#else
char letter(Transpose transpose) { return transpose == Transpose::kYes ? 'T' : 'N'; }

void product(const Shape& s, const float* a, std::size_t lda, const float* b, std::size_t ldb, float* c,
             std::size_t ldc, bool accumulate) {
    [[maybe_unused]] thread_local const bool alone = (omp_set_num_threads(1), true);
    const auto number = [](std::size_t size) { return static_cast<dnnl_dim_t>(size); };
    const dnnl_status_t status =
        dnnl_sgemm(letter(s.transpose_a), letter(s.transpose_b), number(s.m), number(s.n), number(s.k), 1.0F, a,
                   number(lda), b, number(ldb), accumulate ? 1.0F : 0.0F, c, number(ldc));
    if (status == dnnl_out_of_memory) {
        throw std::bad_alloc();
    }
    AUSPEX_CHECK(status == dnnl_success, "dnnl_sgemm refuses a product");
}
#endif

void product(const Shape& s, const double* a, std::size_t lda, const double* b, std::size_t ldb, double* c,
             std::size_t ldc, bool accumulate) {
    eigen_product(s, a, lda, b, ldb, c, ldc, accumulate);
}

/// An operand as Real: itself, or a widened copy without gaps between its rows; `ld` becomes the copy's.
template <typename T>
const RealOf<T>* widened(Scratch use, const T* operand, std::size_t rows, std::size_t columns, std::size_t& ld) {
    if constexpr (std::is_same_v<T, RealOf<T>>) {
        return operand;
    } else {
        auto* const copy = scratch<RealOf<T>>(use, rows * columns);
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t i = 0; i < columns; ++i) {
                copy[row * columns + i] = real(operand[row * ld + i]);
            }
        }
        ld = columns;
        return copy;
    }
}

template <typename C>
void clear(std::size_t m, std::size_t n, C* c, std::size_t ldc) {
    for (std::size_t row = 0; row < m; ++row) {
        for (std::size_t i = 0; i < n; ++i) {
            c[row * ldc + i] = C{};
        }
    }
}

/// c = product or c + product, rounded once.
template <typename C>
void round_into(std::size_t m, std::size_t n, const RealOf<C>* from, C* c, std::size_t ldc, bool accumulate) {
    for (std::size_t row = 0; row < m; ++row) {
        C* const to = c + row * ldc;
        const RealOf<C>* const values = from + row * n;
        if (accumulate) {
            for (std::size_t i = 0; i < n; ++i) {
                to[i] = stored<C>(real(to[i]) + values[i]);
            }
        } else {
            for (std::size_t i = 0; i < n; ++i) {
                to[i] = stored<C>(values[i]);
            }
        }
    }
}

}  // namespace

template <typename A, typename B, typename C>
void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, const A* a,
          std::size_t lda, const B* b, std::size_t ldb, C* c, std::size_t ldc, bool accumulate) {
    if (m == 0 || n == 0) {
        return;
    }
    if (k == 0) {
        if (!accumulate) {
            clear(m, n, c, ldc);
        }
        return;
    }
    const Shape shape{transpose_a, transpose_b, m, n, k};
    const bool ta = transpose_a == Transpose::kYes, tb = transpose_b == Transpose::kYes;
    const auto* const left = widened(Scratch::kLeft, a, ta ? k : m, ta ? m : k, lda);
    const auto* const right = widened(Scratch::kRight, b, tb ? n : k, tb ? k : n, ldb);
    if constexpr (std::is_same_v<C, RealOf<C>>) {
        product(shape, left, lda, right, ldb, c, ldc, accumulate);
    } else {
        auto* const result = scratch<RealOf<C>>(Scratch::kProduct, m * n);
        product(shape, left, lda, right, ldb, result, n, false);
        round_into(m, n, result, c, ldc, accumulate);
    }
}

std::size_t gemm_scratch_bytes() { return scratch_held(); }

#define AUSPEX_GEMM(A, B, C)                                                                                         \
    template void gemm(Transpose, Transpose, std::size_t, std::size_t, std::size_t, const A*, std::size_t, const B*, \
                       std::size_t, C*, std::size_t, bool);
AUSPEX_GEMM(double, double, double)
AUSPEX_GEMM(float, float, float)
AUSPEX_GEMM(float, float, Bf16)
AUSPEX_GEMM(float, Bf16, float)
AUSPEX_GEMM(float, Bf16, Bf16)
AUSPEX_GEMM(Bf16, float, float)
AUSPEX_GEMM(Bf16, float, Bf16)
AUSPEX_GEMM(Bf16, Bf16, float)
AUSPEX_GEMM(Bf16, Bf16, Bf16)
#undef AUSPEX_GEMM

}  // namespace auspex::exec
