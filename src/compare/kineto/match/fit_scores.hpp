#pragma once
/// @file How well a measured kernel fits an expected one, and a measured collective an expected one.
#include <cstdint>
#include <string>

#include "compare/kineto/match/predicted_rank.hpp"
#include "compare/kineto/trace/measured_step.hpp"

namespace auspex::kineto {

/// Scores at and above it are of one shape, not of one kind only.
inline constexpr std::int16_t kSameShape = 10;

/// 0: not at all. Products fit by their three sizes, rows and columns in either order; those that the router deals by
/// the other two; those of unknown size by their order alone. Other kernels fit by what they do.
[[nodiscard]] std::int16_t fit_of(const MeasuredKernel& kernel, const Slot& slot, bool is_attention_product);

/// By kind, size of the group and bytes; what a trace does not tell fits less.
[[nodiscard]] std::int16_t fit_of(const MeasuredKernel& kernel, const ExpectedMessage& message);

/// Whether a batched product can be of attention's scores: two of its sizes are sequences, or one a sequence and one a
/// head's width, by head.
[[nodiscard]] bool is_attention_product(const Product& product, const models::Workload& workload);

}  // namespace auspex::kineto
