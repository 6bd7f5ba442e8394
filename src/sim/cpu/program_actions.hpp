#pragma once
/// @file A plan's program as the actions of every rank of a CPU machine.
#include <array>
#include <memory>

#include "schedule/program/step_program.hpp"
#include "sim/cpu/actions.hpp"

namespace auspex::cpu {

/// Operations of a step, in the order in which the trainer runs them: block after block of the rank's role, one stream,
/// one at a time. What runs beside others (schedule::runs_beside) sends its first messages where it begins; it
/// receives, adds up and sends more where the program waits for it, which takes its core then. The first of a rank is
/// what it does before those of the program, with operation_index kNoOperation and loss kOptimizer. Operation::host_s
/// is not played: kernel calls cover all that processes do.
class ProgramActions {
 public:
    static constexpr std::uint32_t kNoOperation = 0xffff'ffff;

    /// References must outlive it. Throws InputError for a stack without processes or with other collectives, and for
    /// all that the trainer has no kernel or call for (unbound_operations).
    ProgramActions(const models::Inputs& inputs, const schedule::StepProgram& step);
    ~ProgramActions();
    ProgramActions(const ProgramActions&) = delete;
    ProgramActions& operator=(const ProgramActions&) = delete;

    /// Throws InputError where the machine file has no cost model of a kernel that is called.
    bool next(int rank, OperationActions& operation);

 private:
    struct Impl;
    std::unique_ptr<Impl> parts_;
};

/// Seconds of each kernel's calls in a step, each call on a core alone, over all ranks; without the sums of the
/// transport, and with every operand in the cache.
[[nodiscard]] std::array<double, models::kCpuKernels> cpu_kernel_seconds(const models::Inputs& inputs,
                                                                         const schedule::StepProgram& step);

}  // namespace auspex::cpu
