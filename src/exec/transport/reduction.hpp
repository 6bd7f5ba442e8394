#pragma once
/// @file The arithmetic of collectives: the parts of a group's members joined in rank order, the same under every
/// transport.
#include <cstddef>
#include <span>

#include "exec/transport/communicator.hpp"

namespace auspex::exec {

[[nodiscard]] std::size_t element_bytes(ElementType type);

/// Elements that cannot be parted: three of kLogSumExp, else one.
[[nodiscard]] std::size_t elements_per_item(ReduceOp op);

/// Joins `count` elements of each part, part after part, in double (kInt64: in 64-bit integers), and rounds the result
/// once. `result` may be one of the parts. A NaN in any part makes the result NaN, also of kMax.
///   kSum: x_0 + x_1 + …    kMax: the largest
///   kLogSumExp: m = max m_i, s = sum s_i exp(m_i - m), x = sum x_i; parts with s_i = 0 add nothing to s
void reduce_parts(std::span<const void* const> parts, void* result, std::size_t count, ElementType type, ReduceOp op);

}  // namespace auspex::exec
