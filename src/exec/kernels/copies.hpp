#pragma once
/// @file Values copied and cleared.
#include <algorithm>
#include <cstddef>
#include <span>

#include "exec/kernels/call_record.hpp"

namespace auspex::exec {

template <typename T>
void copy_values(std::size_t count, const T* from, T* to) {
    record_call("copy", 1, count * sizeof(T));
    std::copy_n(from, count, to);
}
template <typename T>
void clear_values(std::span<T> values) {
    record_call("zero", 1, values.size_bytes());
    std::fill(values.begin(), values.end(), T{});
}

}  // namespace auspex::exec
