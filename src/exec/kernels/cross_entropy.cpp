/// @file Row by row: the softmax's parts, and its gradient in the place of the logits.
#include "exec/kernels/cross_entropy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/kernels/call_record.hpp"
#include "exec/kernels/exponential.hpp"

namespace auspex::exec {
namespace {

/// Column of a token on this rank, negative if it has none.
std::int64_t column_of(std::int32_t token, std::int32_t first_token, std::size_t vocabulary) {
    const std::int64_t column = std::int64_t{token} - first_token;
    return column < static_cast<std::int64_t>(vocabulary) ? column : -1;
}

}  // namespace

template <typename R>
void cross_entropy_parts(std::size_t rows, std::size_t vocabulary, const R* logits, const std::int32_t* targets,
                         std::int32_t first_token, R* parts) {
    record_call("cross_entropy_parts", rows, vocabulary);
    for (std::size_t row = 0; row < rows; ++row) {
        if (targets[row] == kNoToken) {
            parts[row * 3] = parts[row * 3 + 2] = 0;
            parts[row * 3 + 1] = first_token == 0 ? 1 : 0;
            continue;
        }
        const R* const x = logits + row * vocabulary;
        R maximum = -std::numeric_limits<R>::infinity(), sum = 0;
#pragma omp simd reduction(max : maximum)
        for (std::size_t i = 0; i < vocabulary; ++i) {
            maximum = x[i] > maximum ? x[i] : maximum;
        }
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < vocabulary; ++i) {
            sum += exponential(x[i] - maximum);
        }
        const std::int64_t target = column_of(targets[row], first_token, vocabulary);
        parts[row * 3] = maximum;
        parts[row * 3 + 1] = sum;
        parts[row * 3 + 2] = target >= 0 ? x[target] : R{0};
    }
}

template <typename R>
double cross_entropy_sum(std::size_t rows, const R* parts) {
    record_call("cross_entropy_sum", rows);
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        const R* const part = parts + row * 3;
        sum += std::log(double{part[1]}) + double{part[0]} - double{part[2]};
    }
    return sum;
}

template <typename R>
void cross_entropy_backward(std::size_t rows, std::size_t vocabulary, R* logits, const std::int32_t* targets,
                            std::int32_t first_token, const R* parts, double scale) {
    record_call("cross_entropy_backward", rows, vocabulary);
    const R factor = static_cast<R>(scale);
    for (std::size_t row = 0; row < rows; ++row) {
        R* const x = logits + row * vocabulary;
        if (targets[row] == kNoToken) {
            std::fill_n(x, vocabulary, R{0});
            continue;
        }
        const R maximum = parts[row * 3], inverse = 1 / parts[row * 3 + 1];
        const std::int64_t target = column_of(targets[row], first_token, vocabulary);
        const R at_target = target >= 0 ? (exponential(x[target] - maximum) * inverse - 1) * factor : R{0};
        for (std::size_t i = 0; i < vocabulary; ++i) {
            x[i] = exponential(x[i] - maximum) * inverse * factor;
        }
        if (target >= 0) {
            x[target] = at_target;
        }
    }
}

#define AUSPEX_CROSS_ENTROPY(R)                                                                                     \
    template void cross_entropy_parts(std::size_t, std::size_t, const R*, const std::int32_t*, std::int32_t, R*);   \
    template double cross_entropy_sum(std::size_t, const R*);                                                       \
    template void cross_entropy_backward(std::size_t, std::size_t, R*, const std::int32_t*, std::int32_t, const R*, \
                                         double);
AUSPEX_CROSS_ENTROPY(float)
AUSPEX_CROSS_ENTROPY(double)
#undef AUSPEX_CROSS_ENTROPY

}  // namespace auspex::exec
