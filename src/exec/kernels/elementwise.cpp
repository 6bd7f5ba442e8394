/// @file Element by element; only the embedding's gradient has an order to keep.
#include "exec/kernels/elementwise.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

#include "exec/kernels/call_record.hpp"
#include "exec/kernels/exponential.hpp"

namespace auspex::exec {

template <typename V>
void swiglu_forward(std::size_t rows, std::size_t width, const V* gate_up, V* product) {
    record_call("swiglu_forward", rows, width);
    for (std::size_t row = 0; row < rows; ++row) {
        const V *const gates = gate_up + row * 2 * width, *const ups = gates + width;
        V* const to = product + row * width;
        for (std::size_t i = 0; i < width; ++i) {
            const auto gate = real(gates[i]);
            to[i] = stored<V>(gate / (1 + exponential(-gate)) * real(ups[i]));
        }
    }
}

template <typename V>
void swiglu_backward(std::size_t rows, std::size_t width, const V* gate_up, const V* d_product, V* d_gate_up) {
    record_call("swiglu_backward", rows, width);
    for (std::size_t row = 0; row < rows; ++row) {
        const V *const gates = gate_up + row * 2 * width, *const ups = gates + width;
        const V* const from = d_product + row * width;
        V *const d_gates = d_gate_up + row * 2 * width, *const d_ups = d_gates + width;
#pragma omp simd
        for (std::size_t i = 0; i < width; ++i) {
            const auto gate = real(gates[i]), up = real(ups[i]), upstream = real(from[i]);
            const auto sigmoid = 1 / (1 + exponential(-gate));
            d_gates[i] = stored<V>(upstream * up * sigmoid * (1 + gate * (1 - sigmoid)));
            d_ups[i] = stored<V>(upstream * gate * sigmoid);
        }
    }
}

namespace {

/// Of gelu(x) = x sigmoid(2 u).
template <typename R>
struct GeluParts {
    R sigmoid, slope;  ///< sigmoid(2 u), and 2 u's derivative
};
template <typename R>
GeluParts<R> gelu_parts(R x) {
    constexpr R kScale = static_cast<R>(2 * std::numbers::inv_sqrtpi * std::numbers::sqrt2),
                kCube = static_cast<R>(0.044715);
    const R squared = x * x;
    return {1 / (1 + exponential(-kScale * x * (1 + kCube * squared))), kScale * (1 + 3 * kCube * squared)};
}

}  // namespace

template <typename V>
void gelu_forward(std::size_t rows, std::size_t width, const V* x, V* y) {
    record_call("gelu_forward", rows, width);
    for (std::size_t i = 0; i < rows * width; ++i) {
        y[i] = stored<V>(real(x[i]) * gelu_parts(real(x[i])).sigmoid);
    }
}

template <typename V>
void gelu_backward(std::size_t rows, std::size_t width, const V* x, const V* dy, V* dx) {
    record_call("gelu_backward", rows, width);
    for (std::size_t i = 0; i < rows * width; ++i) {
        const auto [sigmoid, slope] = gelu_parts(real(x[i]));
        dx[i] = stored<V>(real(dy[i]) * sigmoid * (1 + real(x[i]) * slope * (1 - sigmoid)));
    }
}

template <typename B, typename V>
void add_bias(std::size_t rows, std::size_t width, const B* bias, V* y, std::size_t ld) {
    record_call("add_bias", rows, width);
    for (std::size_t row = 0; row < rows; ++row) {
        V* const to = y + row * (ld == 0 ? width : ld);
        for (std::size_t i = 0; i < width; ++i) {
            to[i] = stored<V>(real(to[i]) + real(bias[i]));
        }
    }
}

template <typename V, typename G>
void bias_gradient(std::size_t rows, std::size_t width, const V* dy, G* gradient, std::size_t ld) {
    record_call("bias_gradient", rows, width);
    std::vector<RealOf<V>> sums(width);
    for (std::size_t row = 0; row < rows; ++row) {
        const V* const from = dy + row * (ld == 0 ? width : ld);
        for (std::size_t i = 0; i < width; ++i) {
            sums[i] += real(from[i]);
        }
    }
    for (std::size_t i = 0; i < width; ++i) {
        gradient[i] = stored<G>(real(gradient[i]) + sums[i]);
    }
}

template <typename V>
void add(std::size_t count, const V* a, const V* b, V* sum) {
    record_call("add", 1, count);
    for (std::size_t i = 0; i < count; ++i) {
        sum[i] = stored<V>(real(a[i]) + real(b[i]));
    }
}

/// The exponent's bits are all set in what is not finite. Without an early end the loop is one of vectors.
template <typename T>
bool all_finite(std::size_t count, const T* values) {
    record_call("all_finite", 1, count);
    using Real = RealOf<T>;
    using Bits = std::conditional_t<sizeof(Real) == sizeof(double), std::uint64_t, std::uint32_t>;
    constexpr Bits kExponent = std::bit_cast<Bits>(std::numeric_limits<Real>::infinity());
    Bits found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        found |= static_cast<Bits>((std::bit_cast<Bits>(real(values[i])) & kExponent) == kExponent);
    }
    return found == 0;
}

/// One sum would wait for each addition before the next; these are independent, two vectors of AVX-512.
constexpr std::size_t kSquareLanes = 32;

template <typename T>
double square_sum(std::size_t count, const T* values) {
    record_call("square_sum", 1, count);
    double sums[kSquareLanes] = {};
    std::size_t begin = 0;
    for (; begin + kSquareLanes <= count; begin += kSquareLanes) {
#pragma omp simd
        for (std::size_t lane = 0; lane < kSquareLanes; ++lane) {
            const auto value = static_cast<double>(real(values[begin + lane]));
            sums[lane] += value * value;
        }
    }
    double sum = 0;
    for (const double partial : sums) {
        sum += partial;
    }
    for (; begin < count; ++begin) {
        const auto value = static_cast<double>(real(values[begin]));
        sum += value * value;
    }
    return sum;
}

template <typename V>
void embedding_forward(std::size_t rows, std::size_t width, const std::int32_t* tokens, std::int32_t first_token,
                       std::size_t rows_of_table, const V* table, V* x) {
    record_call("embedding_forward", rows, width);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::int64_t table_row = std::int64_t{tokens[row]} - first_token;
        V* const to = x + row * width;
        if (table_row >= 0 && table_row < static_cast<std::int64_t>(rows_of_table)) {
            std::copy_n(table + static_cast<std::size_t>(table_row) * width, width, to);
        } else {
            std::fill_n(to, width, V{});
        }
    }
}

template <typename V, typename G>
void embedding_backward(std::size_t rows, std::size_t width, const std::int32_t* tokens, std::int32_t first_token,
                        std::size_t rows_of_table, const V* dx, G* table_gradient) {
    record_call("embedding_backward", rows, width);
    // Rows of one token are summed before they are rounded into the table: bf16 would lose a frequent token's.
    std::vector<std::size_t> order;
    for (std::size_t row = 0; row < rows; ++row) {
        const std::int64_t table_row = std::int64_t{tokens[row]} - first_token;
        if (table_row >= 0 && table_row < static_cast<std::int64_t>(rows_of_table)) {
            order.push_back(row);
        }
    }
    std::stable_sort(order.begin(), order.end(),
                     [tokens](std::size_t a, std::size_t b) { return tokens[a] < tokens[b]; });
    std::vector<RealOf<V>> sums(width);
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        const std::int32_t token = tokens[order[begin]];
        G* const to = table_gradient + static_cast<std::size_t>(std::int64_t{token} - first_token) * width;
        for (std::size_t i = 0; i < width; ++i) {
            sums[i] = real(to[i]);
        }
        for (end = begin; end < order.size() && tokens[order[end]] == token; ++end) {
            const V* const from = dx + order[end] * width;
            for (std::size_t i = 0; i < width; ++i) {
                sums[i] += real(from[i]);
            }
        }
        for (std::size_t i = 0; i < width; ++i) {
            to[i] = stored<G>(sums[i]);
        }
    }
}

#define AUSPEX_ELEMENTWISE(V)                                                                                 \
    template void swiglu_forward(std::size_t, std::size_t, const V*, V*);                                     \
    template void swiglu_backward(std::size_t, std::size_t, const V*, const V*, V*);                          \
    template void gelu_forward(std::size_t, std::size_t, const V*, V*);                                       \
    template void gelu_backward(std::size_t, std::size_t, const V*, const V*, V*);                            \
    template void add_bias(std::size_t, std::size_t, const V*, V*, std::size_t);                              \
    template void add(std::size_t, const V*, const V*, V*);                                                   \
    template bool all_finite(std::size_t, const V*);                                                          \
    template double square_sum(std::size_t, const V*);                                                        \
    template void embedding_forward(std::size_t, std::size_t, const std::int32_t*, std::int32_t, std::size_t, \
                                    const V*, V*);
#define AUSPEX_GRADIENT(V, G)                                                                                  \
    template void bias_gradient(std::size_t, std::size_t, const V*, G*, std::size_t);                          \
    template void embedding_backward(std::size_t, std::size_t, const std::int32_t*, std::int32_t, std::size_t, \
                                     const V*, G*);
AUSPEX_ELEMENTWISE(float)
AUSPEX_ELEMENTWISE(double)
AUSPEX_ELEMENTWISE(Bf16)
AUSPEX_GRADIENT(float, float)
AUSPEX_GRADIENT(double, double)
AUSPEX_GRADIENT(Bf16, Bf16)
AUSPEX_GRADIENT(Bf16, float)
template void add_bias(std::size_t, std::size_t, const Bf16*, float*, std::size_t);       // router logits
template void bias_gradient(std::size_t, std::size_t, const float*, Bf16*, std::size_t);  // and their gradients
#undef AUSPEX_ELEMENTWISE
#undef AUSPEX_GRADIENT

}  // namespace auspex::exec
