/// @file Each mechanism taken out leaves a machine on which it costs nothing, and all else as it was.
#include "models/cpu/cpu_mechanisms.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace auspex::models {
namespace {

CpuModel machine() {
    CpuModel cpu;
    cpu.cores = 2, cpu.quantum_s = 4e-3, cpu.context_switch_s = 5e-6, cpu.poll_s = 3e-7, cpu.reload_byte_s = 5e-11;
    cpu.core_capacity_bytes = 6e6, cpu.busy_speed = 0.9, cpu.cache_bytes = 24e6;
    cpu.cache_bytes_per_s = 2e11, cpu.memory_bytes_per_s = 4e10, cpu.core_memory_bytes_per_s = 3e10;
    cpu.intra_node.send_s = cpu.intra_node.receive_s = 2e-7, cpu.intra_node.send_byte_s = 5e-11;
    cpu.intra_node.receive_byte_s = 1e-10, cpu.intra_node.rendezvous_s = 3e-6;
    for (auto& costs : cpu.kernel_costs) {
        for (CpuKernelCost& cost : costs) {
            cost.known = true, cost.capacity_bytes = 12e6, cost.miss_byte_s = 7e-11;
            cost.seconds_per.fill(1e-9);
        }
    }
    return cpu;
}

/// Everything that a step may be made longer by, in an order of its own.
std::vector<double> costs_of(const CpuModel& cpu) {
    const CpuKernelCost& copy = cpu.kernel_costs[0][static_cast<std::size_t>(CpuKernel::kCopy)];
    CpuCall operation;
    operation.kernel = CpuKernel::kOperation;
    return {miss_ratio(cpu, copy, {.of_core = 2e8, .of_computer = 4e8}),
            1 / cpu.cache_bytes_per_s + 1 / cpu.memory_bytes_per_s,
            1 / cpu.busy_speed - 1,
            cpu.quantum_s,
            cpu.context_switch_s,
            cpu.reload_byte_s,
            cpu.poll_s,
            send_cpu_s(cpu.intra_node, 0, false) + receive_cpu_s(cpu.intra_node, 0) + cpu.intra_node.rendezvous_s,
            cpu.intra_node.send_byte_s + cpu.intra_node.receive_byte_s,
            cpu_seconds(cpu, operation, CpuPrecision::kFp32)};
}

TEST(CpuMechanisms, each_takes_its_own_cost_away_and_no_other) {
    const std::vector<double> all = costs_of(machine());
    ASSERT_EQ(cpu_mechanisms().size(), all.size());
    std::set<std::string> names;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const CpuMechanism& mechanism = cpu_mechanisms()[i];
        SCOPED_TRACE(mechanism.name);
        EXPECT_TRUE(names.insert(mechanism.name).second);
        CpuModel without = machine();
        mechanism.remove(without);
        const std::vector<double> left = costs_of(without);
        for (std::size_t j = 0; j < all.size(); ++j) {
            EXPECT_GT(all[j], 0);
            const double expected = i == j ? 0 : all[j];
            EXPECT_NEAR(left[j], expected, 1e-12 * all[j]) << j;
        }
    }
}

}  // namespace
}  // namespace auspex::models
