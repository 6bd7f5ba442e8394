/// @file Groups of a host's constants: what is in them, what their scaling does, how uncertain they are.
#include "sim/predict/cpu_sensitivity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "../cpu/cpu_fixture.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::predict {
namespace {

using namespace testing_cpu;

const ConstantGroup& group_of(const std::string& path) {
    const auto& groups = cpu_constant_groups();
    return *std::find_if(groups.begin(), groups.end(),
                         [&](const ConstantGroup& group) { return std::string(group.path) == path; });
}

void expect_each_in_one_group(const models::Machine& machine) {
    for (const Constant& constant : machine.constants) {
        if (constant.path.starts_with("machine.host.")) {
            EXPECT_EQ(
                std::ranges::count_if(cpu_constant_groups(),
                                      [&](const ConstantGroup& group) { return has_constant(group, constant.path); }),
                1)
                << constant.path;
        }
    }
}

TEST(CpuSensitivity, every_constant_of_a_host_is_in_one_group) {
    JsonDocument document = JsonDocument::load(testing_plans::kRoot + "/reports/node-calibration/machine.json");
    expect_each_in_one_group(models::load_machine(document));
    document.set("host.fresh_share", "0.4");
    const models::Machine machine = models::load_machine(document);
    expect_each_in_one_group(machine);
    for (const ConstantGroup& group : cpu_constant_groups()) {
        for (const std::string& begin : group.members) {
            EXPECT_TRUE(std::ranges::any_of(machine.constants,
                                            [&](const Constant& constant) { return constant.path.starts_with(begin); }))
                << "this file sets all that a host may have, but no " << begin;
        }
    }
}

TEST(CpuSensitivity, the_cores_group_makes_all_that_sharing_a_core_takes_longer) {
    models::Machine machine = bare_machine();
    models::CpuModel& cpu = machine.cpu;
    cpu.quantum_s = 4e-3, cpu.context_switch_s = 20e-6, cpu.poll_s = 2e-6;
    cpu.reload_byte_s = 40e-12, cpu.core_capacity_bytes = 2.1e6, cpu.fresh_share = 0.42, cpu.busy_speed = 0.84;
    group_of("machine.host.cores").scale(machine);
    EXPECT_DOUBLE_EQ(cpu.quantum_s, 4.2e-3);
    EXPECT_DOUBLE_EQ(cpu.context_switch_s, 21e-6);
    EXPECT_DOUBLE_EQ(cpu.poll_s, 2.1e-6);
    EXPECT_DOUBLE_EQ(cpu.reload_byte_s, 42e-12);
    EXPECT_DOUBLE_EQ(cpu.core_capacity_bytes, 2e6) << "less fits";
    EXPECT_DOUBLE_EQ(cpu.fresh_share, 0.4) << "more is read again";
    EXPECT_DOUBLE_EQ(cpu.busy_speed, 0.8);
}

/// What a prediction says of messages inside a node whose costs are known so well; sending and receiving are not 0.
double near_uncertainty(double send, double receive, double latency, double latency_s) {
    models::Inputs inputs = toy_inputs("toy-tp2-dp2", "toy-dense", plausible_machine());
    const auto add = [&inputs](const char* path, double value, double uncertainty) {
        Constant constant;
        constant.path = path;
        constant.value = value;
        constant.relative_uncertainty = uncertainty;
        inputs.machine.constants.push_back(constant);
    };
    std::erase_if(inputs.machine.constants,
                  [](const Constant& constant) { return constant.path.starts_with("machine.host."); });
    add("machine.host.messages.near.send", 0.5e-6, send);
    add("machine.host.messages.near.receive", 0.5e-6, receive);
    add("machine.host.messages.near.latency", latency_s, latency);
    for (const ConstantSensitivity& sensitivity : predict(inputs, {}).prediction.top_constants) {
        if (sensitivity.constant.path == "machine.host.messages.near") {
            return sensitivity.constant.relative_uncertainty;
        }
    }
    return -1;
}

/// A group's uncertainty is sqrt(sum of u^2 / n) over its constants that are not 0: a latency that is 0 because there
/// is no wire widens nothing, whatever its file says of it.
TEST(CpuSensitivity, a_constant_of_zero_takes_no_part_in_its_groups_uncertainty) {
    EXPECT_NEAR(near_uncertainty(0.03, 0.05, 1, 0), std::sqrt((0.03 * 0.03 + 0.05 * 0.05) / 2), 1e-12);
    EXPECT_NEAR(near_uncertainty(0.03, 0.05, 1, 1e-6), std::sqrt((0.03 * 0.03 + 0.05 * 0.05 + 1) / 3), 1e-12);
}

TEST(CpuSensitivity, no_group_is_known_better_than_to_2_percent) {
    // sqrt((0.01^2 + 0.015^2) / 2) = 0.0127 is less, sqrt((0.02^2 + 0.03^2) / 2) = 0.0255 is not.
    EXPECT_DOUBLE_EQ(near_uncertainty(0.01, 0.015, 0, 0), 0.02);
    EXPECT_NEAR(near_uncertainty(0.02, 0.03, 0, 0), 0.025495, 1e-6);
}

/// Each cost model has an error of its own: with k_i of the kernels' seconds, e of the step's elasticity to all of
/// them and relative errors u_i, entries have e k_i and u_i, and sqrt(sum (k_i u_i)^2) is 2 % at least.
TEST(CpuSensitivity, every_kernel_has_its_share_and_its_own_error) {
    models::Inputs inputs = toy_inputs("toy-tp2-dp2", "toy-dense", plausible_machine());
    constexpr auto kProduct = static_cast<std::size_t>(models::CpuKernel::kGemmForward);
    for (auto& costs : inputs.machine.cpu.kernel_costs) {
        for (models::CpuKernelCost& cost : costs) {
            cost.relative_error = 0.01;
        }
        costs[kProduct].relative_error = 0.5;
    }
    const auto kernels_of = [](const models::Inputs& of) {
        std::vector<ConstantSensitivity> kernels = predict(of, {}).prediction.top_constants;
        std::erase_if(kernels, [](const ConstantSensitivity& one) {
            return !one.constant.path.starts_with("machine.host.kernels.");
        });
        return kernels;
    };
    const std::vector<ConstantSensitivity> kernels = kernels_of(inputs);
    ASSERT_GT(kernels.size(), 5u);
    for (const ConstantSensitivity& one : kernels) {
        const bool is_product = one.constant.path == "machine.host.kernels.gemm_forward";
        EXPECT_DOUBLE_EQ(one.constant.relative_uncertainty, is_product ? 0.5 : 0.01) << one.constant.path;
    }
    for (auto& costs : inputs.machine.cpu.kernel_costs) {
        costs[kProduct].relative_error = 0.01;
    }
    double all = 0, squares = 0;
    for (const ConstantSensitivity& one : kernels_of(inputs)) {
        all += one.elasticity;
        squares += std::pow(one.elasticity * one.constant.relative_uncertainty, 2);
    }
    EXPECT_NEAR(std::sqrt(squares) / all, 0.02, 1e-4) << "but for what is left out";
}

TEST(CpuSensitivity, kernels_without_errors_are_known_to_2_percent_and_those_without_times_are_left_out) {
    models::Inputs inputs = toy_inputs("toy-tp2-dp2", "toy-dense", plausible_machine());
    for (auto& costs : inputs.machine.cpu.kernel_costs) {
        for (models::CpuKernelCost& cost : costs) {
            cost.relative_error = 0;
        }
    }
    const auto sums = [](const models::Inputs& of) {
        double all = 0, squares = 0;
        for (const ConstantSensitivity& one : predict(of, {}).prediction.top_constants) {
            const bool is_kernel = one.constant.path.starts_with("machine.host.kernels.");
            all += is_kernel ? one.elasticity : 0;
            squares += is_kernel ? std::pow(one.elasticity * one.constant.relative_uncertainty, 2) : 0;
        }
        return std::pair(all, std::sqrt(squares));
    };
    const auto [all, deviation] = sums(inputs);
    EXPECT_NEAR(deviation / all, 0.02, 1e-4);
    give_laws(inputs.machine.cpu, 0, 0);
    EXPECT_EQ(sums(inputs).first, 0);
}

}  // namespace
}  // namespace auspex::predict
