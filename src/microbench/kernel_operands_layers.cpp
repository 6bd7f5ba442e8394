/// @file Operands of the kernels of layers, embedding and head. What is changed in place stays of one size, however
/// often it is changed: sums that a norm divides by are those of numbers near 1, and what is added to grows slowly.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "exec/kernels/attention.hpp"
#include "exec/kernels/cross_entropy.hpp"
#include "exec/kernels/elementwise.hpp"
#include "exec/kernels/gemm.hpp"
#include "exec/kernels/norm.hpp"
#include "microbench/kernel_operands.hpp"

namespace auspex::microbench {
namespace {

using Call = std::function<void()>;

constexpr double kEpsilon = 1e-6, kTheta = 10000;
/// Positions that the rotation has angles for, at most.
constexpr std::size_t kPositions = 256;
/// Rows of the embedding's table.
constexpr std::size_t kTableRows = 1024;
/// Tokens that a set holds for calls that read different ones, about.
constexpr std::size_t kFreshTokens = 16384;

/// Of weights, so that products are as large as what they are made of.
float weight_scale(std::size_t summed) { return static_cast<float>(1 / std::sqrt(static_cast<double>(summed))); }

template <class P>
Call gemm_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    if (s.kernel == models::CpuKernel::kGemmWeightGradient) {
        const V *const dy = arrays.numbers<V>(s.depth * s.rows), *const x = arrays.numbers<V>(s.depth * s.columns);
        auto* const dw = arrays.filled(s.rows * s.columns, typename P::Gradient{});
        return [=] { exec::linear_weight_gradient(s.depth, s.rows, s.columns, dy, x, dw); };
    }
    const V* const left = arrays.numbers<V>(s.rows * s.depth);
    const V* const weight = arrays.numbers<V>(s.depth * s.columns, weight_scale(s.depth));
    V* const to = arrays.filled(s.rows * s.columns, V{});
    if (s.kernel == models::CpuKernel::kGemmForward) {
        return [=] { exec::linear_forward(s.rows, s.columns, s.depth, left, weight, to); };
    }
    return [=] { exec::linear_input_gradient(s.rows, s.depth, s.columns, left, weight, to); };
}

template <class P>
Call norm_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    const std::size_t elements = s.rows * s.columns;
    const V *const x = arrays.numbers<V>(elements), *const weight = arrays.numbers<V>(s.columns, 0.1F, 1);
    V* const to = arrays.filled(elements, V{});
    if (s.kernel == models::CpuKernel::kNormForward) {
        return [=] { exec::norm_forward(models::NormKind::kRms, s.rows, s.columns, kEpsilon, x, weight, to); };
    }
    const V* const dy = arrays.numbers<V>(elements);
    auto* const gradient = arrays.filled(s.columns, typename P::Gradient{});
    return
        [=] { exec::norm_backward(models::NormKind::kRms, s.rows, s.columns, kEpsilon, x, weight, dy, to, gradient); };
}

/// The queries' half of the norm of queries and keys: rows of [queries, keys, values], of [queries, keys] where the
/// normalised ones go.
template <class P>
Call qk_norm_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    using R = typename P::Real;
    const std::size_t w = s.columns, ld = 3 * w;
    const V* const x = arrays.numbers<V>(s.rows * ld);
    R* const sums = arrays.filled(s.rows * 2, static_cast<R>(w));
    if (s.kernel == models::CpuKernel::kSquareSums) {
        return [=] { exec::square_sums(s.rows, w, x, ld, sums, 0); };
    }
    const V* const weight = arrays.filled(w, exec::stored<V>(1.0F));
    if (s.kernel == models::CpuKernel::kQkNormForward) {
        V* const y = arrays.filled(s.rows * 2 * w, V{});
        return [=] { exec::qk_norm_forward(s.rows, w, w, kEpsilon, x, ld, weight, sums, 0, y, 2 * w); };
    }
    V* const dy = arrays.numbers<V>(s.rows * ld);
    R* const products = arrays.numbers<R>(s.rows * 2);
    if (s.kernel == models::CpuKernel::kQkNormProducts) {
        return [=] { exec::qk_norm_products(s.rows, w, x, ld, weight, dy, ld, products, 0); };
    }
    auto* const gradient = arrays.filled(w, typename P::Gradient{});
    return [=] { exec::qk_norm_backward(s.rows, w, w, kEpsilon, x, ld, weight, sums, products, 0, dy, ld, gradient); };
}

/// Queries and keys within rows of [queries, keys, values].
template <class P>
Call rotate_call(const CallSizes& s, OperandArrays& arrays) {
    AUSPEX_CHECK(s.columns % s.depth == 0 && s.depth % 2 == 0, "heads are whole, and have two halves");
    const std::size_t ld = s.columns + s.columns / 2;
    auto* const x = arrays.numbers<typename P::Value>(s.rows * ld);
    return
        [=] { exec::rotate(s.rows, std::min(s.rows, kPositions), s.columns / s.depth, s.depth, kTheta, x, ld, false); };
}

/// Normalised queries and keys side by side, values in rows of [queries, keys, values], at most 16 heads a sequence.
exec::AttentionSizes attention_sizes(const CallSizes& s) {
    std::size_t heads = std::min<std::size_t>(s.groups, 16);
    while (s.groups % heads != 0) {
        --heads;
    }
    const std::size_t q = heads * s.depth;
    return {s.groups / heads, s.rows, heads, heads, s.depth, 2 * q, 2 * q, 3 * q, 3 * q};
}

template <class P>
Call attention_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    using R = typename P::Real;
    const exec::AttentionSizes sizes = attention_sizes(s);
    const std::size_t tokens = sizes.sequences * sizes.sequence, width = sizes.heads * sizes.head_size;
    const V *const q = arrays.numbers<V>(tokens * 2 * width), *const k = q + width;
    const V* const v = arrays.numbers<V>(tokens * 3 * width) + 2 * width;
    V* const output = arrays.filled(tokens * width, V{});
    R* const lse = arrays.filled(tokens * sizes.heads, R{0});
    if (s.kernel == models::CpuKernel::kAttentionForward) {
        return [=] { exec::attention_forward(sizes, q, k, v, output, lse); };
    }
    exec::attention_forward(sizes, q, k, v, output, lse);
    const V* const d_output = arrays.numbers<V>(tokens * width);
    R* const delta = arrays.filled(tokens * sizes.heads, R{0});
    V* const dq = arrays.filled(tokens * 3 * width, V{});
    return [=] {
        exec::attention_backward(sizes, q, k, v, static_cast<const V*>(output), static_cast<const R*>(lse), d_output,
                                 delta, dq, dq + width, dq + 2 * width);
    };
}

template <class P>
Call elementwise_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    const std::size_t count = s.rows * s.columns;
    if (s.kernel == models::CpuKernel::kAdd) {
        const V *const a = arrays.numbers<V>(count), *const b = arrays.numbers<V>(count);
        V* const sum = arrays.filled(count, V{});
        return [=] { exec::add(count, a, b, sum); };
    }
    const V* const gate_up = arrays.numbers<V>(2 * count);
    if (s.kernel == models::CpuKernel::kSwigluForward) {
        V* const product = arrays.filled(count, V{});
        return [=] { exec::swiglu_forward(s.rows, s.columns, gate_up, product); };
    }
    const V* const d_product = arrays.numbers<V>(count);
    V* const d_gate_up = arrays.filled(2 * count, V{});
    return [=] { exec::swiglu_backward(s.rows, s.columns, gate_up, d_product, d_gate_up); };
}

/// Every call meets other tokens than the last ones, as in training: branches of their sorting are not learnt.
template <class P>
Call embedding_call(const CallSizes& s, OperandArrays& arrays) {
    using V = typename P::Value;
    const std::size_t all = std::max<std::size_t>(1, kFreshTokens / s.rows) * s.rows;
    auto next = [rows = s.rows, all, tokens = arrays.tokens(all, kTableRows), begin = std::size_t{0}]() mutable {
        begin = begin + rows == all ? 0 : begin + rows;
        return static_cast<const std::int32_t*>(tokens) + begin;
    };
    V* const x = arrays.numbers<V>(s.rows * s.columns);
    if (s.kernel == models::CpuKernel::kEmbeddingForward) {
        const V* const table = arrays.numbers<V>(kTableRows * s.columns);
        return [=]() mutable { exec::embedding_forward(s.rows, s.columns, next(), 0, kTableRows, table, x); };
    }
    auto* const gradient = arrays.filled(kTableRows * s.columns, typename P::Gradient{});
    return [=]() mutable {
        exec::embedding_backward(s.rows, s.columns, next(), 0, kTableRows, static_cast<const V*>(x), gradient);
    };
}

template <class P>
Call cross_entropy_call(const CallSizes& s, OperandArrays& arrays) {
    using R = typename P::Real;
    R* const logits = arrays.numbers<R>(s.rows * s.columns);
    R* const parts = arrays.filled(s.rows * 3, R{0});
    const std::int32_t* const targets = arrays.tokens(s.rows, s.columns);
    const auto run_parts = [=] {
        exec::cross_entropy_parts(s.rows, s.columns, static_cast<const R*>(logits), targets, 0, parts);
    };
    if (s.kernel == models::CpuKernel::kCrossEntropyParts) {
        double* const loss = arrays.filled(1, 0.0);
        return [=] {
            run_parts();
            *loss += exec::cross_entropy_sum(s.rows, static_cast<const R*>(parts));
        };
    }
    run_parts();
    return [=] {
        exec::cross_entropy_backward(s.rows, s.columns, logits, targets, 0, static_cast<const R*>(parts), 1e-3);
    };
}

}  // namespace

template <class P>
Call layer_call(const CallSizes& s, OperandArrays& arrays) {
    switch (s.kernel) {
        case models::CpuKernel::kGemmForward:
        case models::CpuKernel::kGemmInputGradient:
        case models::CpuKernel::kGemmWeightGradient: return gemm_call<P>(s, arrays);
        case models::CpuKernel::kNormForward:
        case models::CpuKernel::kNormBackward: return norm_call<P>(s, arrays);
        case models::CpuKernel::kSquareSums:
        case models::CpuKernel::kQkNormForward:
        case models::CpuKernel::kQkNormProducts:
        case models::CpuKernel::kQkNormBackward: return qk_norm_call<P>(s, arrays);
        case models::CpuKernel::kRotate: return rotate_call<P>(s, arrays);
        case models::CpuKernel::kAttentionForward:
        case models::CpuKernel::kAttentionBackward: return attention_call<P>(s, arrays);
        case models::CpuKernel::kSwigluForward:
        case models::CpuKernel::kSwigluBackward:
        case models::CpuKernel::kAdd: return elementwise_call<P>(s, arrays);
        case models::CpuKernel::kEmbeddingForward:
        case models::CpuKernel::kEmbeddingBackward: return embedding_call<P>(s, arrays);
        case models::CpuKernel::kCrossEntropyParts:
        case models::CpuKernel::kCrossEntropyBackward: return cross_entropy_call<P>(s, arrays);
        default: return {};
    }
}

template Call layer_call<exec::Fp32>(const CallSizes&, OperandArrays&);
template Call layer_call<exec::Bf16Precision>(const CallSizes&, OperandArrays&);

}  // namespace auspex::microbench
