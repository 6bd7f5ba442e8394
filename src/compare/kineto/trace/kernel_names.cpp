/// @file Kernels and collectives by their names.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/input_text.hpp"
#include "compare/kineto/trace/name_parts.hpp"
#include "compare/kineto/trace/work.hpp"

namespace auspex::kineto {
namespace {

/// Device kernels; the first part that is in the name counts.
constexpr auto kKernels = std::to_array<NamePart<Work>>({
    {"flash_fwd", Work::kAttention},
    {"flash_bwd", Work::kAttention},
    {"flash_attn", Work::kAttention},
    {"flashattn", Work::kAttention},
    {"fmha", Work::kAttention},
    {"attention_kernel", Work::kAttention},
    {"attention_fwd", Work::kAttention},
    {"attention_bwd", Work::kAttention},
    {"sdpa", Work::kAttention},
    {"adam", Work::kOptimizer},
    {"nll_loss", Work::kCrossEntropy},
    {"cross_entropy", Work::kCrossEntropy},
    {"logsoftmax", Work::kCrossEntropy},
    {"log_softmax", Work::kCrossEntropy},
    {"layer_norm", Work::kNorm},
    {"layernorm", Work::kNorm},
    {"rms_norm", Work::kNorm},
    {"rmsnorm", Work::kNorm},
    {"gammabeta", Work::kNorm},
    {"ln_fwd", Work::kNorm},
    {"ln_bwd", Work::kNorm},
    {"rotary", Work::kRotary},
    {"rope", Work::kRotary},
    {"softmax", Work::kSoftmax},
    {"embedding", Work::kEmbedding},
    {"swiglu", Work::kActivation},
    {"silu", Work::kActivation},
    {"gelu", Work::kActivation},
    {"nvjet", Work::kGemm},
    {"gemm", Work::kGemm},
    {"gemv", Work::kGemm},
    {"splitkreduce", Work::kGemm},
    {"cublas", Work::kGemm},
    {"cijk_", Work::kGemm},
    {"xmma", Work::kGemm},
    {"s16816", Work::kGemm},
    {"s1688", Work::kGemm},
    {"cutlass", Work::kGemm},
    {"_matmul", Work::kGemm},
    {"unpermute", Work::kScatter},
    {"permute", Work::kGather},
    {"scatter", Work::kScatter},
    {"indexadd", Work::kScatter},
    {"indexfunc", Work::kScatter},
    {"index", Work::kGather},
    {"gather", Work::kGather},
    {"sort", Work::kSort},
    {"topk", Work::kSort},
    {"top_k", Work::kSort},
    {"scan", Work::kSort},
    {"histogram", Work::kSort},
    {"catarray", Work::kCopy},
    {"copy", Work::kCopy},
    {"fillfunctor", Work::kFill},
    {"cudafunctor_add", Work::kAdd},
    {"cudafunctoronself_add", Work::kAdd},
    {"multi_tensor_apply", Work::kOptimizer},
    {"reduce_kernel", Work::kReduction},
    {"elementwise", Work::kElementwise},
    {"triton_poi", Work::kElementwise},
    {"triton_per", Work::kElementwise},
    {"triton_red", Work::kElementwise},
});

constexpr auto kLibraries = std::to_array<std::string_view>(
    {"nccl", "rccl", "oneccl", "xccl", "ccl_", "ccl::", "gloo:", "deep_ep", "mpi:", "ucc:"});

bool is_communication(std::string_view name) {
    return std::any_of(kLibraries.begin(), kLibraries.end(),
                       [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

}  // namespace

Work work_of_kernel(const std::string& name) {
    const std::string text = lower_case(name);
    return is_communication(text) ? Work::kCommunication : first_of(kKernels, text).value_or(Work::kOther);
}

NamedCollective named_collective(const std::string& name) {
    using schedule::CommKind;
    std::string text = lower_case(name);
    std::erase(text, '_');
    const auto has = [&text](std::string_view word) { return text.find(word) != std::string::npos; };
    if (has("reducescatter")) {
        return {CommKind::kReduceScatter};
    }
    if (has("allreduce")) {
        return {CommKind::kAllReduce};
    }
    if (has("allgather")) {
        return {CommKind::kAllGather};
    }
    if (has("alltoall") || has("deepep")) {
        return {CommKind::kAllToAll};
    }
    if (has("broadcast")) {
        return {CommKind::kBroadcast};
    }
    if (has("barrier")) {
        return {CommKind::kBarrier};
    }
    if (has("sendrecv") || has("coalesced")) {
        return {CommKind::kNone, true};
    }
    if (has("recv")) {
        return {CommKind::kReceive, true};
    }
    return has("send") ? NamedCollective{CommKind::kSend, true} : NamedCollective{};
}

}  // namespace auspex::kineto
