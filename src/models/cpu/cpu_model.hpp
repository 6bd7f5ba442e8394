#pragma once
/// @file A machine whose ranks are processes on shared CPU cores: what is shared, what a kernel takes, what a message
/// takes.
#include <array>
#include <limits>

#include "models/cpu/cpu_kernel.hpp"

namespace auspex::models {

/// Cost of a message between two processes. CPU times are spent on the sender's and the receiver's cores, inside MPI.
struct MessageCosts {
    double send_s = 0;       ///< sender's CPU for one message
    double receive_s = 0;    ///< receiver's CPU for one message
    double send_byte_s = 0;  ///< sender's CPU for each byte that it hands over; inside a computer it hands over those
                             ///< of messages up to eager_bytes only, and receivers read longer ones where they are
    double receive_byte_s = 0;  ///< receiver's CPU for each byte
    double eager_bytes = 0;     ///< up to here a message is handed over without its receiver
    double rendezvous_s = 0;    ///< more CPU at the receiver of each longer one: its sender has ended when its receiver
                                ///< has taken it. Between nodes an offer and its answer travel before the bytes do
    double latency_s = 0;       ///< on the wire; 0 inside a computer
    double burst_bytes = 0;  ///< what a NIC that has rested lets pass at once: so much as it would have sent meanwhile,
                             ///< up to this (a shaper's token bucket); 0 inside a computer
    double buffered_bytes =
        std::numeric_limits<double>::infinity();  ///< up to here (and eager_bytes) a sender goes on
                                                  ///< at once; beyond, until its receiver has looked for messages
};

/// send_s + send_byte_s for each byte that the sender hands over.
[[nodiscard]] double send_cpu_s(const MessageCosts& costs, double bytes, bool is_inter_node);
/// receive_s + receive_byte_s bytes, and rendezvous_s beyond eager_bytes.
[[nodiscard]] double receive_cpu_s(const MessageCosts& costs, double bytes);

/// Processes on the cores of one computer. Absent (cores = 0) from machines with accelerators.
struct CpuModel {
    int cores = 0;               ///< of one computer; 0: this machine has no host section
    int nodes_per_computer = 1;  ///< nodes of the machine file that are made of one computer, and share its cores
    double quantum_s = 0;        ///< time after which a core goes on to the next of its processes that can run; 0: they
                                 ///< share it continuously, max-min fair, as flows share a link
    double context_switch_s = 0;     ///< a core's change from one process to another
    double poll_s = 0;               ///< a waiting process looks for messages this long before it yields its core
    double core_capacity_bytes = 0;  ///< what a core's own caches and address translations hold of its processes
    double reload_byte_s = 0;  ///< for each byte that others have pushed out of there; 0: not known, none is charged
    double fresh_share = 0.5;  ///< of what a kernel finds in caches, the share that the one before has written
    double busy_speed = 1;     ///< speed of a core while all cores compute, over its speed alone
    double cache_bytes = 0;    ///< last-level cache of a computer
    double cache_bytes_per_s = 0;        ///< last-level cache to all cores together
    double memory_bytes_per_s = 0;       ///< memory to all cores together
    double core_memory_bytes_per_s = 0;  ///< memory to one core
    double probe_s =
        0;  ///< seconds that the probe of microbench/probe.hpp took when all this was measured; 0: not known
    MessageCosts intra_node;  ///< between processes of a node, by shared memory
    MessageCosts inter_node;  ///< between nodes, by way of the network; the wire itself is node.nic. Zeros where
                              ///< fabric.max_nodes is 1
    std::array<std::array<CpuKernelCost, kCpuKernels>, kCpuPrecisions> kernel_costs{};
};

/// The host with cores of another speed: all that a core does takes 1 / speed of its time, kernels' laws, messages'
/// costs for sender and receiver, polls and changes of process. Memory, last-level cache and wires stay as they are.
/// Requires speed > 0.
[[nodiscard]] CpuModel at_speed(CpuModel cpu, double speed);

/// Share of far operands (CpuCall::far_bytes) that are no longer there when a working set of `set_bytes` has been gone
/// through since: 0 up to `reach_bytes`, 1 from twice that, a line between.
[[nodiscard]] double miss_ratio(double reach_bytes, double set_bytes);

/// Bytes that are gone through before a far operand comes round again: by the ranks of one core, which share its own
/// caches and address translation, and by all ranks of the computer, which share the last-level cache.
struct WorkingSet {
    double of_core = 0, of_computer = 0;
};
/// The larger of the shares that miss a core's own reach and the last-level cache.
[[nodiscard]] double miss_ratio(const CpuModel& cpu, const CpuKernelCost& cost, const WorkingSet& set);
/// Seconds for each byte that misses.
[[nodiscard]] double miss_byte_s(const CpuModel& cpu, const CpuKernelCost& cost);

/// Seconds of one of the call's repeats on a core alone, operands in the last-level cache: the law, nothing shared.
[[nodiscard]] double cpu_seconds(const CpuModel& cpu, const CpuCall& call, CpuPrecision precision);

}  // namespace auspex::models
