#pragma once
/// @file Names that traces of CUDA and of Intel's GPUs have for the kernels of a made-up step.
#include <string>

#include "compare/kineto/match/predicted_rank.hpp"

namespace auspex::testing_traces {

using kineto::Slot;
using schedule::CommKind;
using schedule::OpKind;

/// What a framework calls an operation, and its device kernel.
struct Names {
    std::string op, kernel, node;  ///< node: of autograd, without "Backward0"
};

inline Names names_of(const Slot& slot, bool is_xpu) {
    const std::string pointwise = is_xpu ? "at::native::xpu::VectorizedElementwiseKernel<4, "
                                         : "void at::native::vectorized_elementwise_kernel<4, ";
    switch (slot.type) {
        case models::KernelType::kGemm:
            return {slot.product.groups > 1 ? "aten::_grouped_mm" : "aten::mm",
                    is_xpu ? "gemm_kernel" : "nvjet_hsh_128x256_64x4_2x1_v_bz_coopB_NNT", "Mm"};
        case models::KernelType::kAttention:
            return {"aten::_scaled_dot_product_flash_attention",
                    is_xpu ? "micro_sdpa" : "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>",
                    "ScaledDotProductFlashAttention"};
        case models::KernelType::kMemory: break;
    }
    switch (slot.kind) {
        case OpKind::kEmbedding:
            return {"aten::embedding", "void at::native::vectorized_gather_kernel<16, long>", "Embedding"};
        case OpKind::kAttentionNorm:
        case OpKind::kFeedForwardNorm:
        case OpKind::kFinalNorm:
        case OpKind::kQkNorm:
        case OpKind::kQkNormSums:
            return {"aten::_fused_rms_norm", "void at::native::rms_norm_kernel<c10::BFloat16, float>", "FusedRmsNorm"};
        case OpKind::kRotaryEmbedding:
            return {"apply_rotary_emb", "void rotary_kernel<c10::BFloat16>", "ApplyRotaryEmb"};
        case OpKind::kResidualAdd:
        case OpKind::kSharedExpertSum:
            return {"aten::add", pointwise + "at::native::CUDAFunctor_add<c10::BFloat16>>", "Add"};
        case OpKind::kActivation: return {"aten::silu", pointwise + "silu_kernel>", "Silu"};
        case OpKind::kSharedExpert: return {"aten::silu", pointwise + "silu_kernel>", "Silu"};
        case OpKind::kRouterTopK: return {"aten::topk", "void at::native::sbtopk::gatherTopK<float>", "Topk"};
        case OpKind::kTokenCounting:
            return {"aten::cumsum", "void at::native::tensor_kernel_scan_innermost_dim", "Cumsum"};
        case OpKind::kIndexGeneration:
        case OpKind::kExpertComputation:
            return {"aten::index_select", "void at::native::indexSelectLargeIndex<c10::BFloat16>", "IndexSelect"};
        case OpKind::kOutputReduction: return {"aten::index_add_", "void at::native::indexFuncLargeIndex", "IndexAdd"};
        case OpKind::kCrossEntropy: return {"aten::_log_softmax", "void cunn_SoftMaxForward<8, float>", "LogSoftmax"};
        case OpKind::kOptimizerUpdate:
            return {"aten::_fused_adamw_", "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>", ""};
        case OpKind::kGradientNorm:
        case OpKind::kGradientCheck: return {"aten::_foreach_norm", "void at::native::lpnorm_reduce_kernel", ""};
        default: return {"torch::autograd::AccumulateGrad", pointwise + "add>", "torch::autograd::AccumulateGrad"};
    }
}

struct CollectiveNames {
    const char* kernel;
    const char* fact;
};

inline CollectiveNames collective_names(CommKind kind) {
    switch (kind) {
        case CommKind::kAllReduce:
            return {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "allreduce"};
        case CommKind::kReduceScatter:
            return {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                    "_reduce_scatter_base"};
        case CommKind::kAllGather:
            return {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "_allgather_base"};
        case CommKind::kAllToAll: return {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "all_to_allv"};
        case CommKind::kBroadcast:
            return {"ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "broadcast"};
        case CommKind::kBarrier: return {"ncclDevKernel_AllReduce_Sum_u8_TREE_LL", "barrier"};
        case CommKind::kSend: return {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "send"};
        default: return {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "recv"};
    }
}

}  // namespace auspex::testing_traces
