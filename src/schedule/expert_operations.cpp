/// @file The mixture-of-experts block: the five stages of FastSparseMoE, and the loop over experts of the Hugging Face
/// block that it replaces.
///
/// Letters: T tokens gathered over the ep ranks, K chosen, N experts, E experts on the rank, R = t_routed K routed rows
/// on the rank, H hidden, I expert size, a bytes of an element. Sources of the kernel lists: arXiv:2604.00785
/// section 3.1 (five stages); the OlmoeSparseMoeBlock of Hugging Face transformers (loop): per expert a `where` on a
/// one-hot mask of 64-bit integers, an index gather, three products, SiLU, product, scaling, index_add.
#include "schedule/block_builder.hpp"

namespace auspex {
namespace {

constexpr double kIndexBytes = 8;       // torch.int64
constexpr double kCacheLineBytes = 64;  // least that a strided read moves

/// Sizes of this rank's expert work under uniform routing.
struct ExpertSizes {
    double rows, tokens, experts, h, i, a, k, all;
    double rows_each;  ///< rows of one expert
};

ExpertSizes sizes_of(const Shapes& s) {
    const double rows = s.routed_rows;
    return {rows,
            s.gathered,
            s.experts_on_rank,
            s.h,
            s.expert_size,
            s.a,
            static_cast<double>(s.workload.top_k),
            static_cast<double>(s.workload.num_experts),
            rows / s.experts_on_rank};
}

Kernel routed(Kernel kernel) {
    kernel.routed = true;
    return kernel;
}
Kernel routed_memory(double bytes, double launches) { return routed(memory_kernel(bytes, launches)); }

/// The expert products as the plan runs them: one grouped kernel, or one launch an expert. `m, n, k` are of one expert.
Kernel expert_product(const Shapes& s, double m, double n, double k) {
    const double experts = s.experts_on_rank;
    Kernel kernel = routed(gemm_kernel(m, n, k, s.a, s.plan.expert_kernels == ExpertKernels::kLoop ? 1 : experts));
    if (s.plan.expert_kernels == ExpertKernels::kLoop) {
        kernel.repeat = experts;
    }
    return kernel;
}

void append_weight_gradient(const Shapes& s, std::vector<Kernel>& kernels, double m, double n, double k) {
    const bool loop = s.plan.expert_kernels == ExpertKernels::kLoop;
    for (Kernel kernel : linear_weight_gradient(s, m, n, k, loop ? 1 : s.experts_on_rank)) {
        if (kernel.type == KernelType::kGemm) {
            kernel.routed = kernel.routed_depth = true;  // the rows are the depth of this product
        }
        kernel.repeat = loop ? s.experts_on_rank : 1;
        kernels.push_back(kernel);
    }
}

// Loop baseline: kernels of the five stages, each list for all experts of the rank.

std::vector<Kernel> loop_counting(const ExpertSizes& z) {
    return {memory_kernel(z.all * z.k * z.tokens * kIndexBytes, 3)};
}

std::vector<Kernel> loop_indices(const ExpertSizes& z) {
    Kernel where = memory_kernel(z.experts * z.tokens * z.k * kCacheLineBytes,
                                 3 * z.experts);  // the permuted mask is read across its rows
    where.host_syncs = z.experts;
    return {where};
}

std::vector<Kernel> loop_forward(const Shapes& s, const ExpertSizes& z) {
    const double gates = s.workload.feed_forward == FeedForward::kSwiGlu ? 2 : 1;
    std::vector<Kernel> kernels{routed_memory(2 * z.rows * z.h * z.a, z.experts)};
    for (int gate = 0; gate < static_cast<int>(gates); ++gate) {
        kernels.push_back(expert_product(s, z.rows_each, z.i, z.h));
    }
    kernels.push_back(routed_memory((2 + 3 * (gates - 1)) * z.rows * z.i * z.a, gates * z.experts));
    kernels.push_back(expert_product(s, z.rows_each, z.h, z.i));
    kernels.push_back(routed_memory(2 * z.rows * z.h * z.a, z.experts));
    return kernels;
}

/// index_add, and the cast before it.
std::vector<Kernel> loop_reduction(const ExpertSizes& z) {
    return {routed_memory(5 * z.rows * z.h * z.a, 2 * z.experts)};
}

/// Backward of index_add is a gather; of the scaling two products and a sum; of the index gather a zeroed [T, H] tensor
/// per expert, a sorted scatter into it, and its addition to the gradient gathered so far: 4 passes over [T, H] for
/// every expert, however few its rows.
std::vector<Kernel> loop_backward(const Shapes& s, const ExpertSizes& z) {
    const double gates = s.workload.feed_forward == FeedForward::kSwiGlu ? 2 : 1;
    std::vector<Kernel> kernels{routed_memory(2 * z.rows * z.h * z.a, z.experts),
                                routed_memory(6 * z.rows * z.h * z.a, 3 * z.experts)};
    kernels.push_back(expert_product(s, z.rows_each, z.i, z.h));
    kernels.push_back(routed_memory((3 + 6 * (gates - 1)) * z.rows * z.i * z.a, (2 * gates - 1) * z.experts));
    for (int gate = 0; gate < static_cast<int>(gates); ++gate) {
        kernels.push_back(expert_product(s, z.rows_each, z.h, z.i));
    }
    kernels.push_back(routed_memory(3 * z.rows * z.h * z.a, z.experts));
    kernels.push_back(routed_memory(2 * z.rows * z.h * z.a, 4 * z.experts));
    kernels.push_back(memory_kernel(4 * z.experts * z.tokens * z.h * z.a, 2 * z.experts));
    return kernels;
}

// Grouped and fused: a few kernels for all experts.

/// `grouped` has the products of `fused`, but index, permute and reduction work as separate framework kernels: that
/// many passes.
double index_passes(const Shapes& s) { return s.plan.expert_kernels == ExpertKernels::kFused ? 1 : 3; }

std::vector<Kernel> grouped_forward(const Shapes& s, const ExpertSizes& z) {
    const double gates = s.workload.feed_forward == FeedForward::kSwiGlu ? 2 : 1;
    return {routed_memory(2 * z.rows * z.h * z.a * index_passes(s), index_passes(s)),
            expert_product(s, z.rows_each, gates * z.i, z.h),
            routed_memory((gates + 1) * z.rows * z.i * z.a, s.stack.kernels.activation),
            expert_product(s, z.rows_each, z.h, z.i)};
}

std::vector<Kernel> grouped_backward(const Shapes& s, const ExpertSizes& z) {
    const double gates = s.workload.feed_forward == FeedForward::kSwiGlu ? 2 : 1;
    return {expert_product(s, z.rows_each, z.i, z.h),
            routed_memory((2 * gates + 1) * z.rows * z.i * z.a, s.stack.kernels.activation),
            expert_product(s, z.rows_each, z.h, gates * z.i),
            routed_memory((z.rows + z.tokens) * z.h * z.a * index_passes(s), index_passes(s))};
}

std::vector<Kernel> weight_gradients(const Shapes& s, const ExpertSizes& z) {
    const bool loop = s.plan.expert_kernels == ExpertKernels::kLoop;
    const int gates = s.workload.feed_forward == FeedForward::kSwiGlu ? 2 : 1;
    std::vector<Kernel> kernels;
    append_weight_gradient(s, kernels, z.rows_each, z.h, z.i);
    for (int gate = 0; gate < (loop ? gates : 1); ++gate) {
        append_weight_gradient(s, kernels, z.rows_each, (loop ? 1 : gates) * z.i, z.h);
    }
    return kernels;
}

/// Tokens to the ranks that hold their experts, or back: all of them to everyone, or each to its own.
Value exchange(BlockBuilder& b, OpKind kind, bool towards_experts, bool with_indices, Value x) {
    const Shapes& s = b.shapes();
    if (s.plan.dispatch == Dispatch::kAllToAll) {
        const double row = s.h * s.a + (with_indices ? 4 + kIndexBytes : 0);
        return b.communicate(kind, Stream::kEp, CommKind::kAllToAll, GroupKind::kEp, s.plan.ep, s.routed_rows * row,
                             {x}, 1, true);
    }
    const double row = s.h * s.a + (with_indices ? s.workload.top_k * (4 + kIndexBytes) : 0);
    return b.communicate(kind, Stream::kEp, towards_experts ? CommKind::kAllGather : CommKind::kReduceScatter,
                         GroupKind::kEp, s.plan.ep, s.gathered * row, {x});
}

std::vector<Kernel> shared_forward(const Shapes& s) {
    const double width = static_cast<double>(s.workload.shared_experts) * s.workload.expert_size / s.tp;
    return {linear_forward(s, s.t, 2 * width, s.h), memory_kernel(3 * s.t * width * s.a, s.stack.kernels.activation),
            linear_forward(s, s.t, s.h, width)};
}

Kernel router_top_k(const Shapes& s, double passes) {
    return memory_kernel(passes * 2 * s.t_routed * s.workload.num_experts * 4, passes);
}

}  // namespace

Value experts_forward(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const ExpertSizes z = sizes_of(s);
    const bool loop = s.plan.expert_kernels == ExpertKernels::kLoop;
    const Value input = x;
    x = b.compute(OpKind::kRouter, {x}, {linear_forward(s, s.t_routed, z.all, z.h, s.plan.etp)});
    x = b.compute(OpKind::kRouterTopK, {x}, {router_top_k(s, s.stack.kernels.router_topk)});
    x = exchange(b, OpKind::kTokenCommunication, true, true, x);
    Value shared = kNoValue;
    if (s.workload.shared_experts > 0) {
        shared = b.compute(OpKind::kSharedExpert, {input}, shared_forward(s));
    }
    const double scans = index_passes(s);
    const double indices = z.tokens * z.k;
    x = b.compute(
        OpKind::kTokenCounting, {x},
        loop ? loop_counting(z) : std::vector<Kernel>{memory_kernel(indices * kIndexBytes * scans, 3 * scans)});
    x = b.compute(OpKind::kIndexGeneration, {x},
                  loop ? loop_indices(z)
                       : std::vector<Kernel>{memory_kernel((indices * kIndexBytes + 3 * z.rows * 4) * scans, scans)});
    x = b.compute(OpKind::kExpertComputation, {x}, loop ? loop_forward(s, z) : grouped_forward(s, z));
    x = b.compute(
        OpKind::kOutputReduction, {x, shared},
        loop ? loop_reduction(z) : std::vector<Kernel>{memory_kernel((z.rows + z.tokens) * z.h * z.a * scans, scans)});
    return exchange(b, OpKind::kTokenReturn, false, false, x);
}

Value experts_backward(BlockBuilder& b, Value g) {
    const Shapes& s = b.shapes();
    const ExpertSizes z = sizes_of(s);
    const bool loop = s.plan.expert_kernels == ExpertKernels::kLoop;
    const Value outer = g;
    g = exchange(b, OpKind::kTokenReturn, true, false, g);
    if (!loop) {
        g = b.compute(OpKind::kOutputReduction, {g},
                      {memory_kernel((z.tokens + 2 * z.rows) * z.h * z.a * index_passes(s), 2 * index_passes(s))});
    }
    const Value rows = g;
    g = b.compute(OpKind::kExpertComputation, {rows}, loop ? loop_backward(s, z) : grouped_backward(s, z));
    g = exchange(b, OpKind::kTokenCommunication, false, false, g);
    b.set_phase(Phase::kBackwardWeight);
    b.compute(OpKind::kExpertComputation, {rows}, weight_gradients(s, z));
    if (s.workload.shared_experts > 0) {
        const double width = static_cast<double>(s.workload.shared_experts) * s.workload.expert_size / s.tp;
        b.set_phase(Phase::kBackwardInput);
        g = b.compute(OpKind::kSharedExpert, {g, outer},
                      {linear_input_gradient(s, s.t, s.h, width),
                       memory_kernel(5 * s.t * width * s.a, s.stack.kernels.activation),
                       linear_input_gradient(s, s.t, 2 * width, s.h)});
        b.set_phase(Phase::kBackwardWeight);
        std::vector<Kernel> kernels = linear_weight_gradient(s, s.t, s.h, width);
        const std::vector<Kernel> up = linear_weight_gradient(s, s.t, 2 * width, s.h);
        kernels.insert(kernels.end(), up.begin(), up.end());
        b.compute(OpKind::kSharedExpert, {outer}, kernels);
    }
    b.set_phase(Phase::kBackwardInput);
    g = b.compute(OpKind::kRouterTopK, {g}, {router_top_k(s, 2.0 * s.stack.kernels.router_topk)});
    const Value input = b.compute(OpKind::kRouter, {g}, {linear_input_gradient(s, s.t_routed, z.all, z.h, s.plan.etp)});
    b.set_phase(Phase::kBackwardWeight);
    b.compute(OpKind::kRouter, {g}, linear_weight_gradient(s, s.t_routed, z.all, z.h, 1, s.plan.etp));
    b.set_phase(Phase::kBackwardInput);
    return input;
}

}  // namespace auspex
