#pragma once
/// @file Cross entropy over a vocabulary that tp ranks split.
#include <cstddef>
#include <cstdint>

namespace auspex::exec {

inline constexpr std::int32_t kNoToken = -1;  ///< a row without a target: no loss, no gradient

/// parts[row] = (maximum, sum of exp(logit - maximum), the target's logit or 0) over this rank's columns: what
/// ReduceOp::kLogSumExp joins. Without a target what joins to a loss of 0.
template <typename R>
void cross_entropy_parts(std::size_t rows, std::size_t vocabulary, const R* logits, const std::int32_t* targets,
                         std::int32_t first_token, R* parts);
/// Sum over rows of log(sum) + maximum - target's logit, in double.
template <typename R>
[[nodiscard]] double cross_entropy_sum(std::size_t rows, const R* parts);
/// In place: logits become (softmax - [column is the target]) * scale, or 0 without a target.
template <typename R>
void cross_entropy_backward(std::size_t rows, std::size_t vocabulary, R* logits, const std::int32_t* targets,
                            std::int32_t first_token, const R* parts, double scale);

}  // namespace auspex::exec
