/// @file What takes each mechanism out of a machine.
#include "models/cpu/cpu_mechanisms.hpp"

#include <array>

namespace auspex::models {
namespace {

/// More than any machine has, and sums of it are still numbers.
constexpr double kUnlimited = 1e30;

/// Caches that keep everything.
void remove_misses(CpuModel& cpu) {
    cpu.cache_bytes = kUnlimited;
    for (auto& costs : cpu.kernel_costs) {
        for (CpuKernelCost& cost : costs) {
            cost.capacity_bytes = kUnlimited;
        }
    }
}

void remove_contention(CpuModel& cpu) { cpu.cache_bytes_per_s = kUnlimited, cpu.memory_bytes_per_s = kUnlimited; }

void remove_busy_clock(CpuModel& cpu) { cpu.busy_speed = 1; }

void remove_slices(CpuModel& cpu) { cpu.quantum_s = 0; }

void remove_switches(CpuModel& cpu) { cpu.context_switch_s = 0; }

void remove_refills(CpuModel& cpu) { cpu.reload_byte_s = 0; }

void remove_polls(CpuModel& cpu) { cpu.poll_s = 0; }

void remove_message_starts(CpuModel& cpu) {
    for (MessageCosts* const costs : {&cpu.intra_node, &cpu.inter_node}) {
        costs->send_s = 0, costs->receive_s = 0, costs->rendezvous_s = 0;
    }
}

void remove_message_copies(CpuModel& cpu) {
    for (MessageCosts* const costs : {&cpu.intra_node, &cpu.inter_node}) {
        costs->send_byte_s = 0, costs->receive_byte_s = 0;
    }
}

void remove_operation_costs(CpuModel& cpu) {
    for (auto& costs : cpu.kernel_costs) {
        costs[static_cast<std::size_t>(CpuKernel::kOperation)].seconds_per = {};
    }
}

constexpr std::array kMechanisms{
    CpuMechanism{"operands from memory", "kernels over working sets of several sizes", remove_misses},
    CpuMechanism{"cache and memory bandwidth that cores share", "copies on all cores", remove_contention},
    CpuMechanism{"speed of a core while all compute", "products on all cores", remove_busy_clock},
    CpuMechanism{"time slices of ranks that share a core", "pauses of two that compute", remove_slices},
    CpuMechanism{"switches from one rank of a core to the next", "a token among ranks of a core", remove_switches},
    CpuMechanism{"caches that ranks of a core evict", "turns of kernels on a core", remove_refills},
    CpuMechanism{"polls before a waiting rank yields", "ping-pongs", remove_polls},
    CpuMechanism{"starts of messages", "sends and ping-pongs of short messages", remove_message_starts},
    CpuMechanism{"copies of messages", "sends and ping-pongs of long messages", remove_message_copies},
    CpuMechanism{"an operation's cost beside its kernels", "operations without a kernel", remove_operation_costs},
};

}  // namespace

std::span<const CpuMechanism> cpu_mechanisms() { return kMechanisms; }

}  // namespace auspex::models
