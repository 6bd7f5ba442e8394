/// @file Times of kernels: rooflines by hand, the efficiency curve's properties, and order statistics against
/// integration.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "models/kernel_cost.hpp"

namespace auspex::models {
namespace {

/// 100 TF/s and 1 TB/s, 50 cores with blocks of 256 x 256, all efficiencies one.
Machine round_machine() {
    Machine machine;
    machine.tile.gemm_bf16_flop_per_s = 100e12;
    machine.tile.gemm_fp32_flop_per_s = 50e12;
    machine.tile.hbm_bytes_per_s = 1e12;
    machine.tile.cores = 50;
    machine.tile.gemm_tile_m = machine.tile.gemm_tile_n = 256;
    machine.tile.gemm_small_block = 0.8;
    machine.tile.attention_kernels = {{"", 0.5, 0, 0}};
    return machine;
}

TEST(KernelCost, a_gemm_counts_2_m_n_k_flop_and_each_operand_once) {
    // 4 groups of (m, n, k) = (10, 20, 30) in 2 bytes: 2 m n k a group; m k + k n + m n numbers.
    const Kernel kernel = gemm_kernel(10, 20, 30, 2, 4);
    EXPECT_EQ(kernel.flop, 2.0 * 10 * 20 * 30 * 4);
    EXPECT_EQ(kernel.work_flop, kernel.flop);
    EXPECT_EQ(kernel.bytes, 2.0 * 4 * (10 * 30 + 30 * 20 + 10 * 20));
}

TEST(KernelCost, a_compute_bound_fp32_gemm_or_attention_takes_the_ratio_of_the_rates_longer) {
    // 100 TF/s bf16, 50 TF/s fp32: twice the time.
    Kernel attention;
    attention.type = KernelType::kAttention;
    attention.flop = attention.work_flop = 4e12;
    for (Kernel kernel : {gemm_kernel(2560, 1280, 4096, 2), attention}) {
        const double bf16 = kernel_time(kernel, round_machine(), Stack{}).rate_bound_s;
        kernel.operands = Operands::kFp32;
        EXPECT_DOUBLE_EQ(kernel_time(kernel, round_machine(), Stack{}).rate_bound_s, 2 * bf16);
    }
}

TEST(KernelCost, a_gemm_that_fills_every_core_runs_at_the_sustained_rate) {
    // 10 x 5 blocks on 50 cores: one full wave. 2 x 2,560 x 1,280 x 4,096 FLOP at 100 TF/s = 268 us.
    const Kernel kernel = gemm_kernel(2560, 1280, 4096, 2);
    EXPECT_DOUBLE_EQ(gemm_efficiency(round_machine().tile, 2560, 1280, 4096, 1), 1);
    EXPECT_DOUBLE_EQ(kernel_time(kernel, round_machine(), Stack{}).rate_bound_s, 2.0 * 2560 * 1280 * 4096 / 100e12);
}

TEST(KernelCost, one_block_more_than_the_cores_takes_a_second_wave_unless_smaller_blocks_do_better) {
    // 51 full blocks: 51 / 100 filled. Half the side, 204 blocks on 50 cores: 204 / 250 filled, at 0.8 of the rate =
    // 0.6528. A quarter, 816 blocks: 816 / 850 filled, at 0.64 = 0.6144.
    EXPECT_DOUBLE_EQ(gemm_efficiency(round_machine().tile, 256.0 * 51, 256, 4096, 1), 0.8 * 204 / 250);
}

TEST(KernelCost, depth_ceiling_and_the_stacks_factor_multiply) {
    Machine machine = round_machine();
    machine.tile.gemm_half_depth = 1024;
    machine.tile.gemm_ceiling = 0.8;
    Stack stack;
    stack.gemm_efficiency = 0.9;
    const double ideal = 2.0 * 2560 * 1280 * 1024 / 100e12;  // k equal to the half depth: half of the rate
    EXPECT_DOUBLE_EQ(kernel_time(gemm_kernel(2560, 1280, 1024, 2), machine, stack).rate_bound_s,
                     ideal / (0.5 * 0.8 * 0.9));
}

TEST(KernelCost, a_thin_gemm_is_bound_by_memory) {
    // m = 1: weights of 8,192 x 8,192 bf16 at 0.5 TB/s take 268 us; its few FLOP 157 us, though only a 64th of each
    // small block is used.
    Machine machine = round_machine();
    machine.tile.hbm_bytes_per_s = 0.5e12;
    const Kernel kernel = gemm_kernel(1, 8192, 8192, 2);
    EXPECT_DOUBLE_EQ(kernel_time(kernel, machine, Stack{}).rate_bound_s, kernel.bytes / 0.5e12);
}

TEST(KernelCost, element_wise_work_takes_bytes_over_bandwidth_and_a_launch_for_each_kernel) {
    // Three times 4 GB at half of 1 TB/s; three times 6 launches of 2 + 3 us and 2 synchronisations of 20 us.
    Machine machine = round_machine();
    machine.tile.memory_efficiency = 0.5;
    machine.tile.kernel_launch_s = 2e-6;
    Stack stack;
    stack.launch_s = 3e-6;
    stack.host_sync_s = 20e-6;
    Kernel kernel = memory_kernel(4e9, 6);
    kernel.host_syncs = 2;
    kernel.repeat = 3;
    const KernelTime time = kernel_time(kernel, machine, stack);
    EXPECT_DOUBLE_EQ(time.rate_bound_s, 3 * 4e9 / 0.5e12);
    EXPECT_DOUBLE_EQ(time.overhead_s, 3 * (6 * 5e-6 + 2 * 20e-6));
}

TEST(KernelCost, attention_runs_at_its_own_efficiency_and_on_work_not_on_model_flop) {
    // 5e12 of work at half of 100 TF; the 4e12 of the model take no part.
    Kernel kernel;
    kernel.type = KernelType::kAttention;
    kernel.flop = 4e12;
    kernel.work_flop = 5e12;
    EXPECT_DOUBLE_EQ(kernel_time(kernel, round_machine(), Stack{}).rate_bound_s, 5e12 / (100e12 * 0.5));
}

TEST(KernelCost, attention_loses_by_short_sequences_and_small_heads) {
    // 0.5 S / (S + 1,000); heads of 64 with half_head 32: (64 / 96) / (128 / 160) = 5/6 of those of 128 and more.
    Machine machine = round_machine();
    const AttentionKernel curve{"", 0.5, 1000, 32};
    machine.tile.attention_kernels = {curve};
    EXPECT_DOUBLE_EQ(attention_efficiency(curve, 3000, 128), 0.5 * 0.75);
    EXPECT_DOUBLE_EQ(attention_efficiency(curve, 1000, 64), 0.5 * 0.5 * 5 / 6);
    EXPECT_DOUBLE_EQ(attention_efficiency(curve, 1000, 256), 0.5 * 0.5);
    EXPECT_DOUBLE_EQ(attention_efficiency({"", 0.5, 0, 0}, 16, 16), 0.5);
    Kernel kernel;
    kernel.type = KernelType::kAttention;
    kernel.work_flop = 3e12;
    kernel.m = 3000, kernel.k = 128;
    EXPECT_DOUBLE_EQ(kernel_time(kernel, machine, Stack{}).rate_bound_s, 3e12 / (100e12 * 0.375));
}

TEST(KernelCost, a_collective_takes_the_stacks_share_of_compute_or_the_machines) {
    Machine machine = round_machine();
    machine.tile.collective_compute_share = 0.1;
    Stack stack;
    EXPECT_EQ(collective_compute_share(machine, stack), 0.1);
    stack.compute_share = 0;
    EXPECT_EQ(collective_compute_share(machine, stack), 0);
}

TEST(KernelCost, load_stretches_routed_kernels_only) {
    Kernel kernel = memory_kernel(1e9, 1);
    EXPECT_DOUBLE_EQ(kernel_time(kernel, round_machine(), Stack{}, 1.5).rate_bound_s, 1e-3);
    kernel.routed = true;
    EXPECT_DOUBLE_EQ(kernel_time(kernel, round_machine(), Stack{}, 1.5).rate_bound_s, 1.5e-3);
}

TEST(KernelCost, efficiency_lies_between_zero_and_one_for_2000_random_shapes) {
    Rng rng(7);
    Tile tile = round_machine().tile;
    tile.gemm_half_depth = 256;
    for (int i = 0; i < 2000; ++i) {
        const auto draw = [&rng] {
            return static_cast<double>(1 + rng.below(std::uint64_t{1} << (1 + rng.below(15))));
        };
        const double m = draw(), n = draw(), k = draw(), groups = static_cast<double>(1 + rng.below(64));
        const double efficiency = gemm_efficiency(tile, m, n, k, groups);
        EXPECT_GT(efficiency, 0) << m << " " << n << " " << k << " " << groups;
        EXPECT_LE(efficiency, 1) << m << " " << n << " " << k << " " << groups;
    }
}

TEST(KernelCost, a_larger_gemm_never_takes_less_time) {
    // Time ~ waves, which grow with m for every block size; so does their minimum.
    Machine machine = round_machine();
    machine.tile.gemm_half_depth = 256;
    double before = 0;
    for (int m = 1; m <= 6000; m += 13) {
        const double time = kernel_time(gemm_kernel(m, 1536, 2048, 2), machine, Stack{}).rate_bound_s;
        EXPECT_GE(time, before * (1 - 1e-12)) << m;
        before = time;
    }
}

/// E[max of n] = integral of x n phi(x) Phi(x)^(n - 1), by Simpson's rule.
double integrated_maximum(double n) {
    const int steps = 20'000;
    const double low = -9, high = 9, h = (high - low) / steps;
    double sum = 0;
    for (int i = 0; i <= steps; ++i) {
        const double x = low + i * h;
        const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
        const double value = x * n * density * std::pow(0.5 * std::erfc(-x / std::sqrt(2.0)), n - 1);
        sum += value * (i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2);
    }
    return sum * h / 3;
}

TEST(ExpectedNormalMaximum, agrees_with_numerical_integration_within_1_percent_from_8_ranks_on) {
    // Blom's formula is coarser for pairs (4.5 %) and triples (2.7 %).
    EXPECT_NEAR(expected_normal_maximum(2), integrated_maximum(2), 0.05 * integrated_maximum(2));
    EXPECT_NEAR(expected_normal_maximum(3), integrated_maximum(3), 0.03 * integrated_maximum(3));
    for (const double n : {8.0, 12.0, 96.0, 384.0, 3072.0, 12288.0, 100'000.0}) {
        EXPECT_NEAR(expected_normal_maximum(n), integrated_maximum(n), 0.01 * integrated_maximum(n)) << n;
    }
    EXPECT_NEAR(expected_normal_maximum(12), 1.63, 0.01);
    EXPECT_NEAR(expected_normal_maximum(96), 2.5, 0.02);
    EXPECT_NEAR(expected_normal_maximum(12288), 3.9, 0.04);
}

TEST(ExpectedNormalMaximum, of_one_or_none_is_zero_and_grows_with_n) {
    EXPECT_EQ(expected_normal_maximum(0), 0);
    EXPECT_EQ(expected_normal_maximum(1), 0);
    double before = 0;
    for (int i = 0; i < 30; ++i) {
        const double n = 2 * std::pow(1.7, i);
        EXPECT_GT(expected_normal_maximum(n), before);
        before = expected_normal_maximum(n);
    }
}

}  // namespace
}  // namespace auspex::models
