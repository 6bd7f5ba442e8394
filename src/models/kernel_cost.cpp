/// @file Kernel times: roofline, GEMM efficiency, order statistics of the fleet.
#include "models/kernel_cost.hpp"

#include <algorithm>
#include <cmath>

#include "base/statistics/distributions.hpp"
#include "models/attention/attention_choice.hpp"
#include "models/plan.hpp"

namespace auspex::models {

Kernel gemm_kernel(double m, double n, double k, double element_bytes, double groups) {
    Kernel kernel;
    kernel.type = KernelType::kGemm;
    kernel.m = m, kernel.n = n, kernel.k = k, kernel.groups = groups;
    kernel.flop = kernel.work_flop = 2 * m * n * k * groups;
    kernel.bytes = element_bytes * groups * (m * k + k * n + m * n);
    return kernel;
}

Kernel memory_kernel(double bytes, double launches) {
    Kernel kernel;
    kernel.bytes = bytes;
    kernel.launches = launches;
    return kernel;
}

Operands operands_of(Fp8 fp8) {
    switch (fp8) {
        case Fp8::kNone: break;
        case Fp8::kTensorwise: return Operands::kFp8;
        case Fp8::kBlockwise: return Operands::kFp8Blocks;
        case Fp8::kNvfp4: return Operands::kNvfp4;
    }
    return Operands::kBf16;
}

double gemm_rate(const Tile& tile, Operands operands) {
    switch (operands) {
        case Operands::kBf16: break;
        case Operands::kFp32: return tile.gemm_fp32_flop_per_s;
        case Operands::kFp8: return tile.gemm_fp8_flop_per_s;
        case Operands::kFp8Blocks: return tile.gemm_fp8_blocks_flop_per_s;
        case Operands::kNvfp4: return tile.gemm_nvfp4_flop_per_s;
    }
    return tile.gemm_bf16_flop_per_s;
}

double gemm_efficiency(const Tile& tile, double m, double n, double k, double groups, double depth_scale) {
    if (m <= 0 || n <= 0 || k <= 0) {
        return 1;
    }
    const double cores = tile.cores;
    double best = 0;
    double penalty = 1;
    for (const double scale : {1.0, 0.5, 0.25}) {
        const double block_m = tile.gemm_tile_m * scale, block_n = tile.gemm_tile_n * scale;
        const double blocks = groups * std::ceil(m / block_m) * std::ceil(n / block_n);
        const double waves = std::ceil(blocks / cores);
        best = std::max(best, penalty * groups * m * n / (waves * cores * block_m * block_n));
        penalty *= tile.gemm_small_block;
    }
    return best * k / (k + tile.gemm_half_depth * depth_scale);
}

double attention_efficiency(const AttentionKernel& kernel, double sequence, double head_size) {
    constexpr double kFullHead = 128;
    double efficiency = kernel.efficiency;
    if (kernel.half_sequence > 0) {
        efficiency *= sequence / (sequence + kernel.half_sequence);
    }
    if (const double half = kernel.half_head; half > 0 && head_size < kFullHead) {
        efficiency *= (head_size / (head_size + half)) / (kFullHead / (kFullHead + half));
    }
    return efficiency;
}

KernelTime kernel_time(const Kernel& kernel, const Machine& machine, const Stack& stack, double load) {
    const Tile& tile = machine.tile;
    const double scale = kernel.routed ? load : 1;
    const double bytes_s = kernel.bytes * scale / (tile.hbm_bytes_per_s * tile.memory_efficiency);
    double flop_s = 0;
    const double rate = gemm_rate(tile, kernel.operands);
    const bool is_narrow = kernel.operands != Operands::kBf16 && kernel.operands != Operands::kFp32;
    if (kernel.type == KernelType::kGemm) {
        const double efficiency = gemm_efficiency(tile, kernel.m * (kernel.routed_depth ? 1 : scale), kernel.n,
                                                  kernel.k * (kernel.routed_depth ? scale : 1), kernel.groups,
                                                  is_narrow ? rate / tile.gemm_bf16_flop_per_s : 1);
        flop_s = kernel.work_flop * scale / (rate * tile.gemm_ceiling * stack.gemm_efficiency * efficiency);
    } else if (kernel.type == KernelType::kAttention) {
        const double efficiency = attention_efficiency(attention_kernel(tile, stack), kernel.m, kernel.k);
        flop_s = kernel.work_flop * scale / (rate * efficiency * stack.attention_efficiency);
    }
    const double overhead_s =
        kernel.launches * (tile.kernel_launch_s + stack.launch_s) + kernel.host_syncs * stack.host_sync_s;
    return {kernel.repeat * std::max(flop_s, bytes_s), kernel.repeat * overhead_s};
}

double collective_compute_share(const Machine& machine, const Stack& stack) {
    return stack.compute_share.value_or(machine.tile.collective_compute_share);
}

double expected_normal_maximum(double n) { return n <= 1 ? 0 : normal_quantile((n - 0.375) / (n + 0.25)); }

}  // namespace auspex::models
