/// @file Norms, row by row, in Real; weight gradients are summed over the rows and rounded once.
#include "exec/kernels/norm.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"
#include "exec/kernels/scratch.hpp"

namespace auspex::exec {
namespace {

/// term(0) + … + term(count - 1), in an order that depends on count alone. A term taken by reference does not
/// vectorise.
template <typename R, typename Term>
R sum_of(std::size_t count, Term term) {
    R sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < count; ++i) {
        sum += term(i);
    }
    return sum;
}

/// The weight as Real, ones where there is none.
template <typename V>
const RealOf<V>* widened_weight(std::size_t width, const V* weight) {
    auto* const wide = scratch<RealOf<V>>(Scratch::kNormWeight, width);
    for (std::size_t i = 0; i < width; ++i) {
        wide[i] = weight != nullptr ? real(weight[i]) : RealOf<V>{1};
    }
    return wide;
}

/// Cleared sums of a weight's gradient.
template <typename R>
R* gradient_sums(std::size_t width) {
    R* const sums = scratch<R>(Scratch::kNormGradient, width);
    std::fill_n(sums, width, R{0});
    return sums;
}

template <typename R, typename G>
void add_gradient(std::size_t width, const R* sums, G* gradient) {
    for (std::size_t i = 0; i < width; ++i) {
        gradient[i] = stored<G>(real(gradient[i]) + sums[i]);
    }
}

/// A row's normalised value is (x - mean) * inverse.
template <typename R>
struct RowScale {
    R mean = 0, inverse = 0;
};

template <typename V, typename R = RealOf<V>>
RowScale<R> row_scale(models::NormKind kind, std::size_t width, double epsilon, const V* x) {
    const R count = static_cast<R>(width);
    R mean = 0;
    if (kind != models::NormKind::kRms) {
        mean = sum_of<R>(width, [x](std::size_t i) { return real(x[i]); }) / count;
    }
    const R squares = sum_of<R>(width, [x, mean](std::size_t i) {
        const R value = real(x[i]) - mean;
        return value * value;
    });
    return {mean, 1 / std::sqrt(squares / count + static_cast<R>(epsilon))};
}

void check_kind(models::NormKind kind, bool weighted) {
    AUSPEX_CHECK(weighted == (kind != models::NormKind::kNonParametric), "only a norm with parameters has a weight");
}

/// 1 / sqrt(sum / whole_width + epsilon)
template <typename R>
R inverse_root(R sum, std::size_t whole_width, double epsilon) {
    return 1 / std::sqrt(sum / static_cast<R>(whole_width) + static_cast<R>(epsilon));
}

}  // namespace

template <typename V>
void norm_forward(models::NormKind kind, std::size_t rows, std::size_t width, double epsilon, const V* x,
                  const V* weight, V* y, std::size_t ldy) {
    record_call("norm_forward", rows, width);
    check_kind(kind, weight != nullptr);
    using R = RealOf<V>;
    const R* const w = widened_weight(width, weight);
    for (std::size_t row = 0; row < rows; ++row) {
        const V* const from = x + row * width;
        V* const to = y + row * (ldy == 0 ? width : ldy);
        const auto [mean, inverse] = row_scale(kind, width, epsilon, from);
        if (kind == models::NormKind::kLayer) {
            for (std::size_t i = 0; i < width; ++i) {
                to[i] = stored<V>((real(from[i]) - mean) * inverse * w[i] + real(weight[width + i]));
            }
            continue;
        }
        for (std::size_t i = 0; i < width; ++i) {
            to[i] = stored<V>((real(from[i]) - mean) * inverse * w[i]);
        }
    }
}

template <typename V, typename G>
void norm_backward(models::NormKind kind, std::size_t rows, std::size_t width, double epsilon, const V* x,
                   const V* weight, const V* dy, V* dx, G* weight_gradient, std::size_t lddy) {
    record_call("norm_backward", rows, width);
    check_kind(kind, weight != nullptr);
    using R = RealOf<V>;
    const R* const w = widened_weight(width, weight);
    const bool has_bias = kind == models::NormKind::kLayer;
    R* const sums = gradient_sums<R>(has_bias ? 2 * width : width);
    const R count = static_cast<R>(width);
    for (std::size_t row = 0; row < rows; ++row) {
        const V *const from = x + row * width, *const upstream = dy + row * (lddy == 0 ? width : lddy);
        V* const to = dx + row * width;
        const auto scale = row_scale(kind, width, epsilon, from);
        const R mean = scale.mean, inverse = scale.inverse;
        const auto normal = [=](std::size_t i) { return (real(from[i]) - mean) * inverse; };
        // Both means of the gradient before the norm: along the row's direction, and along (1, …, 1) if that is
        // removed.
        const R along = sum_of<R>(width, [=](std::size_t i) { return real(upstream[i]) * w[i] * normal(i); }) / count;
        R level = 0;
        if (kind != models::NormKind::kRms) {
            level = sum_of<R>(width, [=](std::size_t i) { return real(upstream[i]) * w[i]; }) / count;
        }
        for (std::size_t i = 0; i < width; ++i) {
            sums[i] += real(upstream[i]) * normal(i);
        }
        for (std::size_t i = 0; has_bias && i < width; ++i) {
            sums[width + i] += real(upstream[i]);
        }
        for (std::size_t i = 0; i < width; ++i) {
            to[i] = stored<V>(inverse * (real(upstream[i]) * w[i] - level - normal(i) * along));
        }
    }
    if (weight_gradient != nullptr) {
        add_gradient(has_bias ? 2 * width : width, sums, weight_gradient);
    }
}

template <typename V, typename R>
void square_sums(std::size_t rows, std::size_t width, const V* x, std::size_t ldx, R* sums, int which) {
    record_call("square_sums", rows, width);
    for (std::size_t row = 0; row < rows; ++row) {
        const V* const from = x + row * ldx;
        sums[row * 2 + static_cast<std::size_t>(which)] =
            sum_of<R>(width, [from](std::size_t i) { return real(from[i]) * real(from[i]); });
    }
}

template <typename V, typename R>
void qk_norm_forward(std::size_t rows, std::size_t width, std::size_t whole_width, double epsilon, const V* x,
                     std::size_t ldx, const V* weight, const R* sums, int which, V* y, std::size_t ldy) {
    record_call("qk_norm_forward", rows, width);
    const R* const w = widened_weight(width, weight);
    for (std::size_t row = 0; row < rows; ++row) {
        const V* const from = x + row * ldx;
        V* const to = y + row * ldy;
        const R inverse = inverse_root(sums[row * 2 + static_cast<std::size_t>(which)], whole_width, epsilon);
        for (std::size_t i = 0; i < width; ++i) {
            to[i] = stored<V>(real(from[i]) * inverse * w[i]);
        }
    }
}

template <typename V, typename R>
void qk_norm_products(std::size_t rows, std::size_t width, const V* x, std::size_t ldx, const V* weight, const V* dy,
                      std::size_t lddy, R* products, int which) {
    record_call("qk_norm_products", rows, width);
    const R* const w = widened_weight(width, weight);
    for (std::size_t row = 0; row < rows; ++row) {
        const V *const from = x + row * ldx, *const upstream = dy + row * lddy;
        products[row * 2 + static_cast<std::size_t>(which)] =
            sum_of<R>(width, [=](std::size_t i) { return real(upstream[i]) * w[i] * real(from[i]); });
    }
}

template <typename V, typename R, typename G>
void qk_norm_backward(std::size_t rows, std::size_t width, std::size_t whole_width, double epsilon, const V* x,
                      std::size_t ldx, const V* weight, const R* sums, const R* products, int which, V* dy,
                      std::size_t lddy, G* weight_gradient) {
    record_call("qk_norm_backward", rows, width);
    const R* const w = widened_weight(width, weight);
    R* const gradient = gradient_sums<R>(width);
    for (std::size_t row = 0; row < rows; ++row) {
        const V* const from = x + row * ldx;
        V* const upstream = dy + row * lddy;
        const std::size_t index = row * 2 + static_cast<std::size_t>(which);
        const R inverse = inverse_root(sums[index], whole_width, epsilon);
        const R along = inverse * inverse * products[index] / static_cast<R>(whole_width);
        for (std::size_t i = 0; i < width; ++i) {
            gradient[i] += real(upstream[i]) * real(from[i]) * inverse;
        }
        for (std::size_t i = 0; i < width; ++i) {
            upstream[i] = stored<V>(inverse * (real(upstream[i]) * w[i] - real(from[i]) * along));
        }
    }
    add_gradient(width, gradient, weight_gradient);
}

#define AUSPEX_NORM(V, R)                                                                                            \
    template void norm_forward(models::NormKind, std::size_t, std::size_t, double, const V*, const V*, V*,           \
                               std::size_t);                                                                         \
    template void square_sums(std::size_t, std::size_t, const V*, std::size_t, R*, int);                             \
    template void qk_norm_forward(std::size_t, std::size_t, std::size_t, double, const V*, std::size_t, const V*,    \
                                  const R*, int, V*, std::size_t);                                                   \
    template void qk_norm_products(std::size_t, std::size_t, const V*, std::size_t, const V*, const V*, std::size_t, \
                                   R*, int);
#define AUSPEX_NORM_GRADIENT(V, R, G)                                                                                 \
    template void norm_backward(models::NormKind, std::size_t, std::size_t, double, const V*, const V*, const V*, V*, \
                                G*, std::size_t);                                                                     \
    template void qk_norm_backward(std::size_t, std::size_t, std::size_t, double, const V*, std::size_t, const V*,    \
                                   const R*, const R*, int, V*, std::size_t, G*);
AUSPEX_NORM(float, float)
AUSPEX_NORM(double, double)
AUSPEX_NORM(Bf16, float)
AUSPEX_NORM_GRADIENT(float, float, float)
AUSPEX_NORM_GRADIENT(double, double, double)
AUSPEX_NORM_GRADIENT(Bf16, float, Bf16)
AUSPEX_NORM_GRADIENT(Bf16, float, float)
#undef AUSPEX_NORM
#undef AUSPEX_NORM_GRADIENT

}  // namespace auspex::exec
