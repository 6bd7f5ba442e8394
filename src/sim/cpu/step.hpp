#pragma once
/// @file One step of a machine whose ranks share CPU cores: every rank, every kernel call, every message.
#include <optional>
#include <vector>

#include "models/cpu/cpu_kernel.hpp"
#include "schedule/losses.hpp"
#include "schedule/operation_times.hpp"
#include "schedule/program/step_program.hpp"
#include "schedule/timeline.hpp"

namespace auspex::cpu {

/// A step as played on CPUs.
///
/// Ranks are processes. Rank r of a computer (world rank modulo the ranks of a computer) is bound to core r mod cores,
/// or, with a stack that does not bind, runs on any that is free. A rank does one action after another: kernel calls
/// (schedule/kernel_calls/kernel_calls.hpp) with times by the machine's cost models, sends, receives, waits and sums of
/// the transport (sim/cpu/collectives.hpp); what runs beside others sends where it begins, and does the rest where it
/// is waited for. A core runs one of its ranks at a time, for a time slice of host.quantum_s or until it waits; with
/// quantum_s = 0 all of them at once, at max-min fair shares. A waiting rank yields (poll_s and context_switch_s are
/// lost) or, with a stack that spins, keeps its time slices. Cores that compute at the same time share last-level cache
/// and memory, and run at host.busy_speed where all do. Operands that were last touched long ago (CpuCall::cold_bytes)
/// come from memory as far as live bytes exceed what caches hold (miss_ratio). Messages between nodes cross the nodes'
/// NICs as flows, max-min fair (sim/network/sharing/max_min.hpp).
struct CpuStep {
    Picoseconds step = 0, forward_backward = 0;
    schedule::LossTimes losses{};  ///< mean over ranks; they sum to `step`. Waiting for a core counts as waiting
    schedule::OperationTimes operation_times;
    std::uint64_t events = 0;
    std::optional<schedule::Timeline> timeline;  ///< a track for each rank ("rank 3", stream "compute", "tp" …)
};

/// Requires machine.host.cores > 0; `step` gives plan, layout, program and routing load.
/// Throws InputError where the plan asks for what the trainer cannot do (overlap of tp, cp, fsdp …), the stack's
/// collectives are not those of its transport, or the machine file has no cost model of a kernel that is called.
/// Ignores: uneven routing, noise; Operation::host_s is not played. background[core] processes on that core of every
/// computer always compute and share the core with its ranks.
[[nodiscard]] CpuStep play_on_cpus(const models::Inputs& inputs, const schedule::StepProgram& step, bool timeline,
                                   const std::vector<int>& background = {});

/// Seconds of one collective by itself among `ranks` ranks that lie on nodes of the machine in order, for calibration's
/// check of its fit: the time that one more call adds to several in succession, as they are timed. `bytes` of fp32 as
/// in communication.hpp. Throws InputError for a broadcast, which is left to MPI, and where play_on_cpus does so for
/// stack and cost models. Ignores that arrays longer than the last-level cache come from memory.
[[nodiscard]] double cpu_collective_s(const models::Machine& machine, const models::Stack& stack,
                                      schedule::CommKind comm, int ranks, double bytes);

}  // namespace auspex::cpu
