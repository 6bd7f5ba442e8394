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

const ScaledConstant& scaled(const std::string& path) {
    return *std::ranges::find(cpu_constants(), path, &ScaledConstant::path);
}

/// Neither told by the library or a clock, nor of one cost model among many.
bool is_one_by_one(const Constant& constant) {
    return constant.path.starts_with("machine.host.") && !constant.path.starts_with("machine.host.kernels.") &&
           constant.kind != ConstantKind::kSpecified && constant.path != "machine.host.probe" &&
           constant.path != "machine.host.background_load" && constant.path != "machine.host.messages.far.burst";
}

TEST(CpuSensitivity, every_uncertain_constant_of_a_host_is_scaled_once) {
    JsonDocument document = JsonDocument::load(testing_plans::kRoot + "/reports/node-calibration/machine.json");
    document.set("host.fresh_share", "0.4");
    const models::Machine machine = models::load_machine(document);
    for (const Constant& constant : machine.constants) {
        if (is_one_by_one(constant)) {
            EXPECT_EQ(std::ranges::count(cpu_constants(), constant.path, &ScaledConstant::path), 1) << constant.path;
        }
    }
    for (const ScaledConstant& one : cpu_constants()) {
        EXPECT_TRUE(one.of != ScaledConstant::Of::kConstant ||
                    std::ranges::count(machine.constants, one.path, &Constant::path) == 1)
            << "this file sets all that a host may have, but no " << one.path;
    }
}

TEST(CpuSensitivity, what_is_scaled_makes_a_step_longer) {
    models::Machine machine = bare_machine();
    models::CpuModel& cpu = machine.cpu;
    cpu.quantum_s = 4e-3, cpu.core_capacity_bytes = 2.1e6, cpu.fresh_share = 0.42, cpu.busy_speed = 0.84;
    cpu.intra_node.send_s = 1e-6;
    constexpr double kFactor = 1.05;
    for (const char* path : {"core_slice", "core_reach", "fresh_share", "busy_speed", "messages.near.send"}) {
        scaled(std::string("machine.host.") + path).scale(machine, kFactor);
    }
    EXPECT_DOUBLE_EQ(cpu.quantum_s, 4.2e-3);
    EXPECT_DOUBLE_EQ(cpu.core_capacity_bytes, 2e6) << "less fits";
    EXPECT_DOUBLE_EQ(cpu.fresh_share, 0.4) << "more is read again";
    EXPECT_DOUBLE_EQ(cpu.busy_speed, 0.8);
    EXPECT_DOUBLE_EQ(cpu.intra_node.send_s, 1.05e-6);
    scaled("machine.host.probe").scale(machine, kFactor);
    EXPECT_DOUBLE_EQ(cpu.intra_node.send_s, 1.05 * 1.05e-6) << "a slower core";
}

/// What a prediction says of the cost of sending inside a node that is known so well.
double send_uncertainty(double value_s, double uncertainty) {
    models::Inputs inputs = toy_inputs("toy-tp2-dp2", "toy-dense", plausible_machine());
    std::erase_if(inputs.machine.constants,
                  [](const Constant& constant) { return constant.path.starts_with("machine.host."); });
    Constant constant;
    constant.path = "machine.host.messages.near.send";
    constant.value = value_s;
    constant.relative_uncertainty = uncertainty;
    inputs.machine.constants.push_back(constant);
    for (const ConstantSensitivity& sensitivity : predict(inputs, {}).prediction.top_constants) {
        if (sensitivity.constant.path == constant.path) {
            return sensitivity.constant.relative_uncertainty;
        }
    }
    return -1;
}

TEST(CpuSensitivity, a_constant_is_as_uncertain_as_its_file_says_but_known_to_2_percent_at_best) {
    EXPECT_DOUBLE_EQ(send_uncertainty(0.5e-6, 0.3), 0.3);
    EXPECT_DOUBLE_EQ(send_uncertainty(0.5e-6, 0.01), 0.02);
    EXPECT_EQ(send_uncertainty(0, 0.3), -1) << "nothing of 0 is scaled";
}

/// The clock is within 5 % of the calibration's, evenly: 5 % / sqrt(3).
TEST(CpuSensitivity, nobody_knows_how_fast_cores_will_be) {
    const models::Inputs inputs = toy_inputs("toy-tp2-dp2", "toy-dense", plausible_machine());
    const std::vector<ConstantSensitivity> all = predict(inputs, {}).prediction.top_constants;
    const auto speed = std::ranges::find_if(
        all, [](const ConstantSensitivity& one) { return one.constant.path == "machine.host.probe"; });
    ASSERT_NE(speed, all.end());
    EXPECT_NEAR(speed->constant.relative_uncertainty, 0.028868, 1e-6);
    EXPECT_GT(speed->elasticity, 0.5);
    EXPECT_LT(speed->elasticity, 1.1);
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
