#pragma once
/// @file Values copied and cleared.
#include <algorithm>
#include <cstddef>
#include <span>

#include "exec/kernels/call_record.hpp"
#include "exec/kernels/scalar.hpp"

namespace auspex::exec {

template <typename T>
void copy_values(std::size_t count, const T* from, T* to) {
    record_call("copy", 1, count * sizeof(T));
    std::copy_n(from, count, to);
}
/// `width` columns of every row; rows are ld_from and ld_to elements apart.
template <typename T>
void copy_columns(std::size_t rows, std::size_t width, const T* from, std::size_t ld_from, T* to, std::size_t ld_to) {
    record_call("copy", 1, rows * width * sizeof(T));
    for (std::size_t row = 0; row < rows; ++row) {
        std::copy_n(from + row * ld_from, width, to + row * ld_to);
    }
}
/// The same columns added to those there, rounded.
template <typename T>
void add_columns(std::size_t rows, std::size_t width, const T* from, std::size_t ld_from, T* to, std::size_t ld_to) {
    record_call("add", 1, rows * width);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < width; ++i) {
            T& sum = to[row * ld_to + i];
            sum = stored<T>(real(sum) + real(from[row * ld_from + i]));
        }
    }
}
template <typename T>
void clear_values(std::span<T> values) {
    record_call("zero", 1, values.size_bytes());
    std::fill(values.begin(), values.end(), T{});
}

}  // namespace auspex::exec
