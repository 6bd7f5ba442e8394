#pragma once
/// @file A machine whose ranks are processes on shared CPU cores: what is shared, what a kernel takes, what a message
/// takes.
#include <array>
#include <limits>
#include <string>

#include "models/cpu/cpu_kernel.hpp"

namespace auspex::models {

/// Cost of a message between two processes. CPU times are spent on the sender's and the receiver's cores, inside MPI.
struct MessageCosts {
    double send_s = 0;          ///< sender's CPU for one message
    double receive_s = 0;       ///< receiver's CPU for one message
    double send_byte_s = 0;     ///< sender's CPU for each byte that it copies into the transport; within a node only of
                                ///< messages up to eager_bytes: receivers read longer ones in place
    double receive_byte_s = 0;  ///< receiver's CPU for each byte
    double eager_bytes = 0;     ///< up to here a message is sent without waiting for its receiver
    double rendezvous_s = 0;    ///< added receiver's CPU for each longer one, whose send ends when it is received.
                                ///< Between nodes ready-to-send and clear-to-send travel before the bytes do
    double latency_s = 0;       ///< on the wire; 0 within a node
    double burst_bytes = 0;  ///< depth of the NIC's token bucket: after an idle time it lets pass at once what it could
                             ///< have sent meanwhile, up to this; 0 within a node
    double buffered_bytes = std::numeric_limits<double>::infinity();  ///< up to here (and eager_bytes) a sender goes on
                                                                      ///< at once; beyond, once its receiver has polled
};

/// Seconds of the sender's core: send_s + send_byte_s * bytes; within a node no bytes count beyond eager_bytes.
[[nodiscard]] double send_cpu_s(const MessageCosts& costs, double bytes, bool is_inter_node);
/// Seconds of the receiver's core: receive_s + receive_byte_s * bytes, and rendezvous_s beyond eager_bytes.
[[nodiscard]] double receive_cpu_s(const MessageCosts& costs, double bytes);

/// Processes on the cores of one computer. Absent (cores = 0) from machines with accelerators.
struct CpuModel {
    int cores = 0;               ///< of one computer; 0: this machine has no host section
    int nodes_per_computer = 1;  ///< nodes of the machine file that are made of one computer, and share its cores
    double quantum_s = 0;        ///< time after which a core goes on to the next of its processes that can run; 0: they
                                 ///< share it continuously, max-min fair, as flows share a link
    double context_switch_s = 0;     ///< a core's change from one process to another
    double poll_s = 0;               ///< a waiting process polls this long before it yields its core
    double core_capacity_bytes = 0;  ///< what a core's own caches and address translations hold of its processes
    double reload_byte_s = 0;      ///< for each byte that others have evicted from there; 0: not known, none is charged
    double fresh_share = 0.5;      ///< of a kernel's warm bytes, those that the one before has just written
    double busy_speed = 1;         ///< speed of a core while all cores compute, over its speed alone
    double cache_bytes = 0;        ///< last-level cache of a computer
    double cache_bytes_per_s = 0;  ///< last-level cache to all cores together
    double memory_bytes_per_s = 0;       ///< memory to all cores together
    double core_memory_bytes_per_s = 0;  ///< memory to one core
    double probe_s =
        0;  ///< seconds that the probe of microbench/probe.hpp took when all this was measured; 0: not known
    /// Of all cores' time, what other work had while this was measured: of the worst part of a calibration that warned
    /// of it; 0: nothing is known of any. No prediction leans on it.
    double background_load = 0;
    MessageCosts intra_node;  ///< between processes of a node, by shared memory
    MessageCosts inter_node;  ///< between nodes, by way of the network; the wire itself is node.nic. Zeros where
                              ///< fabric.max_nodes is 1
    std::array<std::array<CpuKernelCost, kCpuKernels>, kCpuPrecisions> kernel_costs{};
};

/// A sentence for those who read a prediction on a machine that was measured beside other work; empty where it was not.
[[nodiscard]] std::string background_note(const CpuModel& cpu);

/// The machine with cores of another speed: all that a core does takes 1 / speed of its time, that is kernels, messages
/// at sender and receiver, polls and context switches. Memory, last-level cache and network stay as they are. Requires
/// speed > 0.
[[nodiscard]] CpuModel at_speed(CpuModel cpu, double speed);

/// Share of cold operands (CpuCall::cold_bytes) that a cache no longer holds after a working set of `set_bytes` has
/// been gone through: clamp(set_bytes / capacity_bytes - 1, 0, 1).
[[nodiscard]] double miss_ratio(double capacity_bytes, double set_bytes);

/// Bytes that are gone through before a cold operand is used again: by the ranks of one core, which share its own
/// caches and address translation, and by all ranks of the computer, which share the last-level cache.
struct WorkingSet {
    double of_core = 0, of_computer = 0;
};
/// The larger of two miss ratios: of_core against the kernel's capacity_bytes (0: the last-level cache's), and
/// of_computer against the last-level cache.
[[nodiscard]] double miss_ratio(const CpuModel& cpu, const CpuKernelCost& cost, const WorkingSet& set);
/// Seconds for each byte that misses: the kernel's own, else 1 / core_memory_bytes_per_s.
[[nodiscard]] double miss_byte_s(const CpuModel& cpu, const CpuKernelCost& cost);

/// Seconds of one of the call's repeats on a core alone, operands in the last-level cache: the kernel's cost model.
/// Aborts (invariant) where the machine has none.
[[nodiscard]] double cpu_seconds(const CpuModel& cpu, const CpuCall& call, CpuPrecision precision);

}  // namespace auspex::models
