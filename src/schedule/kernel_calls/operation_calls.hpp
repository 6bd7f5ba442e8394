#pragma once
/// @file Kernel calls of one operation.
#include <vector>

#include "models/cpu/cpu_kernel.hpp"
#include "models/plan.hpp"

namespace auspex::schedule {

/// What a rank computes in an operation. Of a communication: before its transfers begin (copies into its buffers, the
/// check for numbers that are not finite) and after they have ended; sums that belong to the transfers (reduce-scatter,
/// all-reduce) are not among them.
struct OperationCalls {
    std::vector<models::CpuCall> before, after;
};

/// fp32 or bf16, of plan.precision. Gradients in fp32 beside bf16 weights count as bf16.
[[nodiscard]] models::CpuPrecision cpu_precision(const models::Plan& plan);

}  // namespace auspex::schedule
