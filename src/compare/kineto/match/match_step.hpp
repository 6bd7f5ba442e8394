#pragma once
/// @file Measured kernels beside the operations that they carry out.
#include <cstdint>
#include <string>
#include <vector>

#include "compare/kineto/match/predicted_rank.hpp"
#include "compare/kineto/trace/measured_step.hpp"

namespace auspex::kineto {

/// What each kernel of a step is; indices into PredictedRank.
struct StepMatch {
    std::vector<std::uint32_t> slot;     ///< by kernel; kNone: none, or it communicates
    std::vector<std::uint32_t> message;  ///< by kernel; kNone: none, or it computes
    std::vector<std::uint8_t> by_sum;    ///< by kernel: shares its message with others, bytes agree in sum only
    [[nodiscard]] bool has(std::size_t kernel) const { return slot[kernel] != kNone || message[kernel] != kNone; }
};

/// Kernels in their order of time, all compute streams together, aligned with the slots (align.hpp); then products that
/// are left with slots of their shape in the layers around them, and other kernels of a certain kind with slots of it,
/// where software takes another order than the program (weight before input gradient, experts at once, the activation
/// between gate and up). Collectives are aligned by kind and size of group, in order of time;
/// those that are left are shared out over the messages that are left of the same kind and group where both have the
/// same bytes in sum, within 15 % (buckets of gradients). Several kernels may carry out one operation; none carries out
/// two.
[[nodiscard]] StepMatch match_step(const MeasuredStep& step, const PredictedRank& rank,
                                   const models::Workload& workload);

}  // namespace auspex::kineto
