/// @file Products with weights, and what casts their operands to 8 bits.
#include "schedule/program/block_builder.hpp"

namespace auspex::schedule {

models::Kernel plan_gemm(const Shapes& s, double m, double n, double k, double groups) {
    models::Kernel kernel = models::gemm_kernel(m, n, k, s.a, groups);
    kernel.operands = s.plan.weight_bytes == 4 ? models::Operands::kFp32 : models::Operands::kBf16;
    return kernel;
}

models::Kernel linear_forward(const Shapes& s, double m, double n, double k, double copies) {
    models::Kernel kernel = plan_gemm(s, m, n, k);
    kernel.flop /= copies;
    return kernel;
}

models::Kernel linear_input_gradient(const Shapes& s, double m, double n, double k, double copies) {
    return linear_forward(s, m, k, n, copies);
}

namespace {

/// Adds a fresh gradient of `weights` to the stored one: in passes of its own, or inside the product, whose
/// multiplications hide as much as gradients of 2 bytes move, read and written.
void append_accumulation(const Shapes& s, double weights, std::vector<models::Kernel>& kernels) {
    constexpr double kHiddenBytes = 4;
    const double passes = s.stack.kernels.gradient_accumulation, bytes = s.plan.gradient_bytes;
    if (passes > 0) {
        if (s.plan.micro_batches > 1) {
            kernels.push_back(models::memory_kernel(3 * passes * weights * bytes, passes));
        }
    } else if (s.stack.accumulation_exposed > 0 && 2 * bytes > kHiddenBytes) {
        kernels.push_back(
            models::memory_kernel(s.stack.accumulation_exposed * weights * (2 * bytes - kHiddenBytes), 0));
    }
}

}  // namespace

std::vector<models::Kernel> linear_weight_gradient(const Shapes& s, double m, double n, double k, double groups,
                                                   double copies) {
    std::vector<models::Kernel> kernels{plan_gemm(s, k, n, m, groups)};
    kernels.front().flop /= copies;
    append_accumulation(s, groups * k * n, kernels);
    return kernels;
}

namespace {

/// The first operand of a product.
models::Kernel cast_of_input(const models::Plan& plan, const models::Kernel& product) {
    models::Kernel kernel = cast_to_fp8(plan, product.groups * product.m * product.k);
    kernel.operands = operands_of(plan.fp8);
    kernel.groups = product.groups;
    kernel.repeat = product.repeat;
    kernel.routed = product.routed;
    return kernel;
}

}  // namespace

double parameters_in_fp8(const models::Workload& workload, const models::Plan& plan, int stage) {
    if (plan.fp8 == models::Fp8::kNone) {
        return 0;
    }
    StageParameters all = stage_parameters(workload, plan, stage);
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        const int v = virtual_stage_of(plan, chunk, stage);
        all.dense -= embedding_parameters(workload, plan, v).dense + head_parameters(workload, plan, v).dense;
    }
    return all.dense + all.experts;
}

models::Kernel cast_to_fp8(const models::Plan& plan, double elements) {
    constexpr double kRead = 2;
    const double written = 2 * narrow_bytes(plan.fp8);
    const bool scales_tensor = plan.fp8 != models::Fp8::kBlockwise;
    return models::memory_kernel(elements * (written + (scales_tensor ? 2 : 1) * kRead), scales_tensor ? 3 : 1);
}

std::vector<models::Kernel> in_fp8(const Shapes& s, Phase phase, std::span<const models::Kernel> kernels) {
    constexpr double kResultBytes = 2;
    std::vector<models::Kernel> all;
    for (models::Kernel kernel : kernels) {
        if (kernel.type != models::KernelType::kGemm) {
            all.push_back(kernel);
            continue;
        }
        kernel.operands = operands_of(s.plan.fp8);
        kernel.bytes = kernel.groups * (narrow_bytes(s.plan.fp8) * (kernel.m + kernel.n) * kernel.k +
                                        kResultBytes * kernel.m * kernel.n);
        if (phase != Phase::kBackwardWeight) {
            all.push_back(cast_of_input(s.plan, kernel));
        }
        all.push_back(kernel);
    }
    return all;
}

}  // namespace auspex::schedule
