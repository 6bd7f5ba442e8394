/// @file Points for shape, kind and pass.
#include "compare/kineto/match/fit_scores.hpp"

#include <algorithm>
#include <cmath>

namespace auspex::kineto {
namespace {

using schedule::CommKind;
using schedule::OpKind;

constexpr double kSlightly = 0.12;  // a padded vocabulary

bool is_one_of(OpKind kind, std::initializer_list<OpKind> kinds) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool is_near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * std::max(a, b); }

bool pass_fits(Pass measured, Pass expected) {
    switch (measured) {
        case Pass::kUnknown: return true;
        case Pass::kForward: return expected == Pass::kForward || expected == Pass::kOptimizer;
        case Pass::kBackward: return expected == Pass::kBackward || expected == Pass::kRecompute;
        case Pass::kRecompute:
        case Pass::kOptimizer: break;
    }
    return measured == expected;
}

/// With rows and columns as they are, or exchanged.
std::int16_t fit_of_sizes(const Product& measured, const Slot& slot, bool exchanged) {
    const Product& expected = slot.product;
    const double m = exchanged ? measured.n : measured.m, n = exchanged ? measured.m : measured.n;
    const bool rows = m == expected.m, columns = n == expected.n, depth = measured.k == expected.k;
    const bool groups = measured.groups == expected.groups;
    if (rows && columns && depth && groups) {
        return 14;
    }
    if (slot.is_routed) {
        return slot.is_routed_depth ? (rows && columns ? 11 : 0) : (columns && depth ? 11 : 0);
    }
    if (!groups) {
        return 0;
    }
    const int same = (rows ? 1 : 0) + (columns ? 1 : 0) + (depth ? 1 : 0);
    const bool is_padded = is_near(m, expected.m, kSlightly) && is_near(n, expected.n, kSlightly) &&
                           is_near(measured.k, expected.k, kSlightly);
    return same == 2 && is_padded ? 6 : 0;
}

std::int16_t fit_of_product(const MeasuredKernel& kernel, const Slot& slot) {
    if (kernel.work != Work::kGemm) {
        return 0;
    }
    if (!kernel.product.is_known()) {
        return 4;
    }
    return std::max(fit_of_sizes(kernel.product, slot, false), fit_of_sizes(kernel.product, slot, true));
}

std::int16_t fit_of_attention(const MeasuredKernel& kernel, bool is_attention_product) {
    switch (kernel.work) {
        case Work::kAttention: return 12;
        case Work::kGemm: return is_attention_product ? 11 : 0;
        case Work::kSoftmax: return 6;
        case Work::kElementwise:
        case Work::kCopy: return 1;
        default: return 0;
    }
}

bool is_norm(OpKind kind) {
    return is_one_of(kind, {OpKind::kAttentionNorm, OpKind::kFeedForwardNorm, OpKind::kFinalNorm, OpKind::kQkNorm,
                            OpKind::kQkNormSums});
}

bool is_routing(OpKind kind) {
    return is_one_of(
        kind, {OpKind::kTokenCounting, OpKind::kIndexGeneration, OpKind::kOutputReduction, OpKind::kExpertComputation});
}

/// Of a memory kernel in the same operation as products, and behind them: the gradient's addition to the stored one.
bool is_accumulation(const Slot& slot) {
    return slot.pass == Pass::kBackward && !is_norm(slot.kind) && !is_routing(slot.kind) &&
           !is_one_of(slot.kind,
                      {OpKind::kActivation, OpKind::kResidualAdd, OpKind::kSharedExpertSum, OpKind::kRotaryEmbedding,
                       OpKind::kCrossEntropy, OpKind::kRouterTopK, OpKind::kEmbedding});
}

std::int16_t fit_of_pointwise(Work work, const Slot& slot) {
    const bool is_add = work == Work::kAdd;
    switch (slot.kind) {
        case OpKind::kResidualAdd:
        case OpKind::kSharedExpertSum: return is_add ? 5 : 0;
        case OpKind::kActivation: return is_add ? 0 : 3;
        case OpKind::kSharedExpert: return 3;
        case OpKind::kRotaryEmbedding: return 3;
        case OpKind::kRouterTopK:
        case OpKind::kCrossEntropy: return 2;
        case OpKind::kOptimizerUpdate: return 3;
        case OpKind::kGradientNorm: return is_add ? 1 : 2;
        case OpKind::kGradientCheck: return 1;
        default: break;
    }
    return is_norm(slot.kind) || is_routing(slot.kind) ? 2 : is_accumulation(slot) && is_add ? 1 : 0;
}

/// Forward rows are picked for the experts and added up behind them; backward the other way round.
std::int16_t fit_of_indexing(Work work, const Slot& slot) {
    const bool is_forward = slot.pass != Pass::kBackward;
    switch (slot.kind) {
        case OpKind::kIndexGeneration:
        case OpKind::kExpertComputation: return (work == Work::kGather) == is_forward ? 6 : 5;
        case OpKind::kOutputReduction: return (work == Work::kScatter) == is_forward ? 7 : 5;
        case OpKind::kTokenCounting: return 4;
        case OpKind::kRouterTopK: return 3;
        case OpKind::kCrossEntropy: return 2;
        default: return 0;
    }
}

std::int16_t fit_of_memory(Work work, const Slot& slot) {
    const OpKind kind = slot.kind;
    switch (work) {
        case Work::kNorm: return is_norm(kind) ? 8 : 0;
        case Work::kSoftmax: return kind == OpKind::kRouterTopK ? 6 : kind == OpKind::kCrossEntropy ? 4 : 0;
        case Work::kEmbedding: return kind == OpKind::kEmbedding ? 9 : 0;
        case Work::kCrossEntropy: return kind == OpKind::kCrossEntropy ? 9 : 0;
        case Work::kRotary: return kind == OpKind::kRotaryEmbedding ? 8 : 0;
        case Work::kActivation:
            return kind == OpKind::kActivation                                            ? 8
                   : is_one_of(kind, {OpKind::kExpertComputation, OpKind::kSharedExpert}) ? 5
                                                                                          : 0;
        case Work::kAccumulate: return is_accumulation(slot) ? 7 : 0;
        case Work::kOptimizer:
            return kind == OpKind::kOptimizerUpdate                                   ? 9
                   : is_one_of(kind, {OpKind::kGradientNorm, OpKind::kGradientCheck}) ? 1
                                                                                      : 0;
        case Work::kAdd:
        case Work::kElementwise: return fit_of_pointwise(work, slot);
        case Work::kReduction:
            return is_norm(kind)                                                      ? 3
                   : is_one_of(kind, {OpKind::kGradientNorm, OpKind::kGradientCheck}) ? 6
                   : is_one_of(kind, {OpKind::kRouterTopK, OpKind::kCrossEntropy, OpKind::kOutputReduction,
                                      OpKind::kTokenCounting})
                       ? 2
                       : 0;
        case Work::kSort:
            return kind == OpKind::kTokenCounting ? 6 : kind == OpKind::kRouterTopK ? 5 : is_routing(kind) ? 3 : 0;
        case Work::kGather:
        case Work::kScatter: return fit_of_indexing(work, slot);
        case Work::kCopy: return is_one_of(kind, {OpKind::kRotaryEmbedding}) || is_routing(kind) ? 1 : 0;
        default: return 0;
    }
}

}  // namespace

std::int16_t fit_of(const MeasuredKernel& kernel, const Slot& slot, bool is_attention_product) {
    if (!pass_fits(kernel.pass, slot.pass) || kernel.work == Work::kCommunication || kernel.work == Work::kFill) {
        return 0;
    }
    if (kernel.pass == Pass::kForward && slot.pass == Pass::kOptimizer && slot.kind == OpKind::kOptimizerUpdate) {
        return kernel.work == Work::kOptimizer ? 9 : 0;
    }
    switch (slot.type) {
        case models::KernelType::kGemm: return fit_of_product(kernel, slot);
        case models::KernelType::kAttention: return fit_of_attention(kernel, is_attention_product);
        case models::KernelType::kMemory: break;
    }
    return fit_of_memory(kernel.work, slot);
}

std::int16_t fit_of(const MeasuredKernel& kernel, const ExpectedMessage& message) {
    const bool expects_message = message.comm == CommKind::kSend || message.comm == CommKind::kReceive;
    if (kernel.is_message) {
        if (!expects_message || (kernel.comm != CommKind::kNone && kernel.comm != message.comm)) {
            return 0;
        }
    } else if (kernel.comm != message.comm) {
        return 0;
    }
    if (!expects_message && kernel.group_size > 0 && kernel.group_size != message.group_size) {
        return 0;
    }
    if (kernel.bytes <= 0 || message.bytes <= 0) {
        return 5;
    }
    return is_near(kernel.bytes, message.bytes, 0.02) ? 14 : is_near(kernel.bytes, message.bytes, 0.3) ? 4 : 0;
}

bool is_attention_product(const Product& product, const models::Workload& workload) {
    const double sequence = workload.sequence_length;
    const auto is_head = [&](double size) {
        return size == workload.head_size || size == workload.head_size + workload.rope_head_size ||
               size == workload.value_head_size;
    };
    if (!product.is_known() || product.groups <= 1) {
        return false;
    }
    const int sequences =
        (product.m == sequence ? 1 : 0) + (product.n == sequence ? 1 : 0) + (product.k == sequence ? 1 : 0);
    return sequences == 2 && (is_head(product.m) || is_head(product.n) || is_head(product.k));
}

}  // namespace auspex::kineto
