#pragma once
/// @file Which kernels the trainer calls for an operation, with their sizes: what a machine with a host section is
/// costed by.
#include <vector>

#include "models/cpu_kernel.hpp"
#include "models/layout.hpp"
#include "schedule/program.hpp"

namespace auspex {

/// What a rank computes in an operation. Of a communication: before its transfers begin (copies into its buffers, the
/// look for numbers that are not finite) and after they have ended; sums that belong to the transfers (reduce-scatter,
/// all-reduce) are not among them.
struct OperationCalls {
    std::vector<CpuCall> before, after;
};

/// Every operation begins with what walking to it takes (CpuKernel::kOperation), with the two tensors that most make.
/// As src/exec does it, for a rank of pipeline stage `stage`; routing even, as the plan's is taken to be. Of a tp group
/// it is the first rank, which alone counts losses. An operation that computes nothing has no calls. Ignores what takes
/// no time beside the kernels: sums of a few numbers, bookkeeping. Requires a resolved plan and a program that the
/// trainer runs; aborts at an operation that it does not.
[[nodiscard]] OperationCalls kernel_calls(const Workload& workload, const Plan& plan, const Stack& stack,
                                          const Layout& layout, int stage, const Operation& op);

/// What a rank does at the start of a step outside any operation: its gradients are cleared.
[[nodiscard]] std::vector<CpuCall> calls_before_step(const Workload& workload, const Plan& plan, const Layout& layout,
                                                     int stage);

/// fp32 or bf16, of plan.precision. Gradients in fp32 beside bf16 weights count as bf16.
[[nodiscard]] CpuPrecision cpu_precision(const Plan& plan);

}  // namespace auspex
