/// @file Parts of names, and what they stand for. What is here of CUDA, ROCm and oneAPI is general knowledge of what
/// traces of these systems hold; docs/bring-your-run.md says which names were seen in traces made here.
#include "compare/kineto/trace/work.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "compare/kineto/trace/name_parts.hpp"

namespace auspex::kineto {
namespace {

/// Operations that are one thing whatever runs inside.
constexpr auto kWhole = std::to_array<NamePart<Work>>({
    {"accumulategrad", Work::kAccumulate},
    {"scaled_dot_product", Work::kAttention},
    {"scaleddotproduct", Work::kAttention},
    {"flash_attn", Work::kAttention},
    {"flashattn", Work::kAttention},
    {"flash_attention", Work::kAttention},
    {"efficient_attention", Work::kAttention},
    {"cudnn_attention", Work::kAttention},
    {"flex_attention", Work::kAttention},
    {"fusedattn", Work::kAttention},
    {"fused_attn", Work::kAttention},
    {"log_softmax", Work::kCrossEntropy},
    {"logsoftmax", Work::kCrossEntropy},
    {"nll_loss", Work::kCrossEntropy},
    {"nllloss", Work::kCrossEntropy},
    {"cross_entropy", Work::kCrossEntropy},
    {"crossentropy", Work::kCrossEntropy},
    {"aten::softmax", Work::kSoftmax},
    {"aten::_softmax", Work::kSoftmax},
    {"softmaxbackward", Work::kSoftmax},
    {"maskedsoftmax", Work::kSoftmax},
    {"aten::embedding", Work::kEmbedding},
    {"embeddingbackward", Work::kEmbedding},
    {"aten::layer_norm", Work::kNorm},
    {"native_layer_norm", Work::kNorm},
    {"nativelayernorm", Work::kNorm},
    {"rms_norm", Work::kNorm},
    {"rmsnorm", Work::kNorm},
    {"fusedlayernorm", Work::kNorm},
    {"rotary", Work::kRotary},
    {"_rope", Work::kRotary},
    {"fused_adam", Work::kOptimizer},
    {"fusedadam", Work::kOptimizer},
    {"multi_tensor_adam", Work::kOptimizer},
    {"swiglu", Work::kActivation},
    {"geglu", Work::kActivation},
});

/// Operations that launch one kernel each, or a few.
constexpr auto kSingle = std::to_array<NamePart<Work>>({
    {"=aten::mm", Work::kGemm},
    {"=aten::addmm", Work::kGemm},
    {"=aten::bmm", Work::kGemm},
    {"=aten::baddbmm", Work::kGemm},
    {"=aten::_scaled_mm", Work::kGemm},
    {"=aten::_grouped_mm", Work::kGemm},
    {"=aten::_scaled_grouped_mm", Work::kGemm},
    {"=aten::linear", Work::kGemm},
    {"=aten::mkldnn_linear", Work::kGemm},
    {"=aten::mv", Work::kGemm},
    {"grouped_gemm", Work::kGemm},
    {"groupedgemm", Work::kGemm},
    {"=aten::silu", Work::kActivation},
    {"=aten::silu_", Work::kActivation},
    {"=aten::silu_backward", Work::kActivation},
    {"=aten::gelu", Work::kActivation},
    {"=aten::gelu_backward", Work::kActivation},
    {"=aten::relu", Work::kActivation},
    {"=aten::threshold_backward", Work::kActivation},
    {"=aten::add", Work::kAdd},
    {"=aten::add_", Work::kAdd},
    {"=aten::topk", Work::kSort},
    {"=aten::sort", Work::kSort},
    {"=aten::argsort", Work::kSort},
    {"=aten::cumsum", Work::kSort},
    {"=aten::histc", Work::kSort},
    {"=aten::bincount", Work::kSort},
    {"=aten::one_hot", Work::kSort},
    {"=aten::nonzero", Work::kSort},
    {"=aten::unique", Work::kSort},
    {"=aten::searchsorted", Work::kSort},
    {"aten::index_add", Work::kScatter},
    {"aten::index_put", Work::kScatter},
    {"aten::_index_put", Work::kScatter},
    {"aten::index_copy", Work::kScatter},
    {"aten::index", Work::kGather},
    {"aten::_index", Work::kGather},
    {"aten::gather", Work::kGather},
    {"aten::scatter", Work::kScatter},
    {"aten::masked_select", Work::kGather},
    {"aten::masked_scatter", Work::kScatter},
    {"aten::repeat_interleave", Work::kGather},
    {"=aten::where", Work::kGather},
    {"unpermute", Work::kScatter},
    {"moe_permute", Work::kGather},
    {"moepermute", Work::kGather},
    {"=aten::sum", Work::kReduction},
    {"=aten::mean", Work::kReduction},
    {"=aten::max", Work::kReduction},
    {"=aten::min", Work::kReduction},
    {"=aten::amax", Work::kReduction},
    {"=aten::norm", Work::kReduction},
    {"=aten::linalg_vector_norm", Work::kReduction},
    {"=aten::_foreach_norm", Work::kReduction},
    {"=aten::var_mean", Work::kReduction},
    {"=aten::logsumexp", Work::kReduction},
    {"=aten::isfinite", Work::kReduction},
    {"=aten::all", Work::kReduction},
    {"=aten::any", Work::kReduction},
    {"=aten::copy_", Work::kCopy},
    {"=aten::clone", Work::kCopy},
    {"=aten::contiguous", Work::kCopy},
    {"=aten::cat", Work::kCopy},
    {"=aten::stack", Work::kCopy},
    {"=aten::to", Work::kCopy},
    {"=aten::_to_copy", Work::kCopy},
    {"=aten::repeat", Work::kCopy},
    {"=aten::constant_pad_nd", Work::kCopy},
    {"=aten::zero_", Work::kFill},
    {"=aten::zeros", Work::kFill},
    {"=aten::zeros_like", Work::kFill},
    {"=aten::ones", Work::kFill},
    {"=aten::ones_like", Work::kFill},
    {"=aten::fill_", Work::kFill},
    {"=aten::full", Work::kFill},
    {"=aten::full_like", Work::kFill},
    {"=aten::new_zeros", Work::kFill},
    {"=aten::arange", Work::kFill},
});

/// Element-wise ones by what follows "aten::", with or without "_" behind.
constexpr auto kPointwise = std::to_array<std::string_view>({"mul",
                                                             "div",
                                                             "sub",
                                                             "rsub",
                                                             "neg",
                                                             "pow",
                                                             "rsqrt",
                                                             "sqrt",
                                                             "exp",
                                                             "log",
                                                             "sigmoid",
                                                             "tanh",
                                                             "masked_fill",
                                                             "clamp",
                                                             "clamp_min",
                                                             "clamp_max",
                                                             "abs",
                                                             "maximum",
                                                             "minimum",
                                                             "lerp",
                                                             "addcmul",
                                                             "addcdiv",
                                                             "cos",
                                                             "sin",
                                                             "square",
                                                             "eq",
                                                             "ne",
                                                             "lt",
                                                             "gt",
                                                             "le",
                                                             "ge",
                                                             "logical_not",
                                                             "reciprocal",
                                                             "native_dropout",
                                                             "dropout",
                                                             "sigmoid_backward",
                                                             "tanh_backward",
                                                             "native_dropout_backward",
                                                             "log1p",
                                                             "softplus",
                                                             "softplus_backward",
                                                             "bitwise_and",
                                                             "bitwise_not",
                                                             "floor_divide",
                                                             "remainder",
                                                             "sign"});

constexpr auto kViews = std::to_array<std::string_view>({"t",
                                                         "transpose",
                                                         "view",
                                                         "reshape",
                                                         "as_strided",
                                                         "expand",
                                                         "slice",
                                                         "select",
                                                         "unsqueeze",
                                                         "squeeze",
                                                         "permute",
                                                         "empty",
                                                         "empty_like",
                                                         "empty_strided",
                                                         "resize_",
                                                         "detach",
                                                         "detach_",
                                                         "alias",
                                                         "split",
                                                         "chunk",
                                                         "narrow",
                                                         "unbind",
                                                         "item",
                                                         "_local_scalar_dense",
                                                         "lift_fresh",
                                                         "resolve_conj",
                                                         "resolve_neg",
                                                         "set_",
                                                         "is_nonzero",
                                                         "_unsafe_view",
                                                         "_reshape_alias",
                                                         "view_as",
                                                         "expand_as",
                                                         "flatten",
                                                         "unflatten",
                                                         "new_empty",
                                                         "result_type",
                                                         "requires_grad_",
                                                         "broadcast_tensors",

                                                         "split_with_sizes",
                                                         "slice_backward",
                                                         "movedim",
                                                         "swapaxes",
                                                         "unsafe_split",
                                                         "is_pinned",
                                                         "real",
                                                         "view_as_real",
                                                         "view_as_complex",
                                                         "size",
                                                         "dim"});

bool is_aten_of(std::string_view name, auto& words) {
    constexpr std::string_view kSpace = "aten::";
    if (!name.starts_with(kSpace)) {
        return false;
    }
    const std::string_view word = name.substr(kSpace.size());
    return std::any_of(words.begin(), words.end(), [word](std::string_view one) {
        return word == one || (word.ends_with('_') && word.substr(0, word.size() - 1) == one);
    });
}

/// Nodes of autograd that undo a view.
bool is_view_node(std::string_view name) {
    constexpr auto kNodes =
        std::to_array<std::string_view>({"t", "view", "transpose", "reshapealias", "unsafeview", "unsqueeze", "squeeze",
                                         "permute", "alias", "reshape", "detach", "split", "unbind"});
    return name == "detach" || std::any_of(kNodes.begin(), kNodes.end(), [name](std::string_view node) {
               return name.starts_with(node) && name.substr(node.size()) == "backward0";
           });
}

}  // namespace

const char* to_string(Work work) {
    static constexpr std::array<const char*, kWorkCount> kNames{
        "gemm",       "attention",  "norm",      "softmax", "embedding",     "cross_entropy", "rotary",
        "activation", "accumulate", "optimizer", "add",     "elementwise",   "reduction",     "sort",
        "gather",     "scatter",    "copy",      "fill",    "communication", "other"};
    AUSPEX_CHECK(static_cast<std::size_t>(work) < kWorkCount, "a kind of work");
    return kNames[static_cast<std::size_t>(work)];
}

OpFacts facts_of_op(const std::string& name) {
    constexpr std::string_view kNode = "autograd::engine::evaluate_function";
    OpFacts facts;
    const std::string text = lower_case(name);
    if (text.starts_with("nccl:") || text.starts_with("xccl:") || text.starts_with("c10d::") ||
        text == "record_param_comms") {
        facts.runs_elsewhere = true;
    } else if (text.starts_with("gloo:") || text.starts_with("mpi:") || text.starts_with("ucc:")) {
        facts.work = Work::kCommunication;
        facts.is_whole = true;
    } else if (text.starts_with(kNode)) {
        facts.is_backward_node = true;
    } else if (text.starts_with("optimizer.step#") || text.starts_with("optimizer.zero_grad#")) {
        facts.is_optimizer = true;
    } else if (is_aten_of(name, kViews) || is_view_node(text)) {
        facts.is_view = true;
    } else if (const auto whole = first_of(kWhole, text)) {
        facts.work = whole;
        facts.is_whole = true;
    } else if (const auto single = first_of(kSingle, text)) {
        facts.work = single;
    } else if (is_aten_of(text, kPointwise) || text.starts_with("aten::_foreach_")) {
        facts.work = Work::kElementwise;
    }
    return facts;
}

}  // namespace auspex::kineto
