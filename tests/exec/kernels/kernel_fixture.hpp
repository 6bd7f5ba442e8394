#pragma once
/// @file What tests of kernels share: random numbers that every format holds exactly, conversion, differences.
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/rng.hpp"
#include "exec/kernels/scalar.hpp"

namespace auspex::testing_kernels {

using Numbers = std::vector<double>;

/// Normal, rounded to bfloat16: the same in every format.
inline Numbers random_numbers(std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    Numbers numbers(count);
    for (double& number : numbers) {
        number = double{real(exec::stored<exec::Bf16>(rng.normal()))};
    }
    return numbers;
}

template <typename V>
std::vector<V> as(const Numbers& numbers) {
    std::vector<V> values;
    for (const double number : numbers) {
        values.push_back(exec::stored<V>(number));
    }
    return values;
}

template <typename V>
Numbers numbers_of(const std::vector<V>& values) {
    Numbers numbers;
    for (const V& value : values) {
        numbers.push_back(double{exec::real(value)});
    }
    return numbers;
}

inline double dot(const Numbers& a, const Numbers& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

/// |a - b| / |b|, 0 for equal ones; infinite if the sizes differ.
inline double relative_error(const Numbers& a, const Numbers& b) {
    if (a.size() != b.size()) {
        return INFINITY;
    }
    Numbers difference(a);
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference[i] -= b[i];
    }
    const double squares = dot(difference, difference);
    return squares == 0 ? 0 : std::sqrt(squares / dot(b, b));
}

/// The first, and from there every so many.
inline Numbers every(std::size_t apart, const Numbers& numbers) {
    Numbers some;
    for (std::size_t i = 0; i < numbers.size(); i += apart) {
        some.push_back(numbers[i]);
    }
    return some;
}

/// Gradient of loss(x) by central differences, of every so many numbers.
template <typename Loss>
Numbers differences(const Loss& loss, Numbers x, std::size_t apart = 1) {
    constexpr double kStep = 1e-5;
    Numbers gradient;
    for (std::size_t i = 0; i < x.size(); i += apart) {
        const double here = x[i];
        x[i] = here + kStep;
        const double above = loss(x);
        x[i] = here - kStep;
        gradient.push_back((above - loss(x)) / (2 * kStep));
        x[i] = here;
    }
    return gradient;
}

/// Largest relative error of a gradient in double against differences, and of float and bf16 against double.
inline constexpr double kDifferenceError = 1e-6, kFloatError = 1e-5, kBf16Error = 2e-2;

}  // namespace auspex::testing_kernels
