#pragma once
/// @file A plan's program as rows of actions of every rank of a host machine.
#include <array>
#include <memory>

#include "schedule/program/step_program.hpp"
#include "sim/cpu/actions.hpp"

namespace auspex::cpu {

/// Rows of a step, in the order in which the trainer runs operations: block after block of the rank's role, one stream,
/// nothing beside another. The first row of a rank is what it does before (calls_before_step), with operation
/// kNoOperation and loss kOptimizer. Operations' host_s is not played: laws and calls say all that processes do.
class ProgramActions {
 public:
    static constexpr std::uint32_t kNoOperation = 0xffff'ffff;

    /// References must outlive it. Throws InputError for a stack without processes or with other collectives, and for
    /// all that the trainer has no kernel or call for (unbound_operations).
    ProgramActions(const models::Inputs& inputs, const schedule::StepProgram& step);
    ~ProgramActions();
    ProgramActions(const ProgramActions&) = delete;
    ProgramActions& operator=(const ProgramActions&) = delete;

    /// Throws InputError where the machine file has no law of a kernel that is called.
    bool next(int rank, OperationActions& operation);

 private:
    struct Impl;
    std::unique_ptr<Impl> parts_;
};

/// Seconds alone of each kernel's calls in a step, over all ranks; without the sums of the transport, and with every
/// operand in the cache.
[[nodiscard]] std::array<double, models::kCpuKernels> cpu_kernel_seconds(const models::Inputs& inputs,
                                                                         const schedule::StepProgram& step);

}  // namespace auspex::cpu
