#pragma once
/// @file Which kernels the trainer calls for an operation, with their sizes: what the step time of a
/// CPU machine is made of.
#include <vector>

#include "models/cpu/cpu_kernel.hpp"
#include "models/layout.hpp"
#include "schedule/kernel_calls/operation_calls.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// Every operation begins with what walking to it takes (CpuKernel::kOperation), with the two tensors that most make.
/// As src/exec does it, for a rank of pipeline stage `stage`; routing even, as the plan's is taken to be. Of a tp group
/// it is the first rank, which alone counts losses. An operation that computes nothing has no calls. Ignores what takes
/// no time beside the kernels: sums of a few numbers, bookkeeping. Requires a resolved plan and a program that the
/// trainer runs; aborts at an operation that it does not.
[[nodiscard]] OperationCalls kernel_calls(const models::Workload& workload, const models::Plan& plan,
                                          const models::Stack& stack, const models::Layout& layout, int stage,
                                          const Operation& op);

/// What a rank does at the start of a step outside any operation: its gradients are cleared.
[[nodiscard]] std::vector<models::CpuCall> step_start_calls(const models::Workload& workload, const models::Plan& plan,
                                                            const models::Layout& layout, int stage);

}  // namespace auspex::schedule
