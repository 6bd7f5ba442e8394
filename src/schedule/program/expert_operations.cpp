/// @file The mixture-of-experts block: the five stages of FastSparseMoE, and the loop over experts of the Hugging Face
/// block that it replaces.
///
/// Letters: T tokens gathered over the ep ranks (hierarchical: those that came), K chosen, N experts, E experts on the
/// rank, R = t_routed K routed rows on the rank, H hidden, I expert size, a bytes of an element. Sources of the kernel
/// lists: arXiv:2604.00785 section 3.1 (five stages); the OlmoeSparseMoeBlock of Hugging Face transformers (loop): per
/// expert a `where` on a one-hot mask of 64-bit integers, an index gather, three products, SiLU, product, scaling,
/// index_add.
///
/// All-to-all dispatch forms no [T, H] tensor: a rank counts, indexes and permutes the t_routed tokens of its own
/// before it sends their R rows, and sums them up again, by their weights, after they have come back. What arrives at
/// the experts is R rows, sorted by expert on arrival and back before they leave, unless the rank has one expert.
///
/// By masks (GShard, arXiv:2006.16668; DeepSpeed-MoE, arXiv:2201.05596): of each choice a one-hot number of its row
/// among all R, so that rows are [R, tokens] x [tokens, H] and sums over a token's rows [tokens, R] x [R, H]; that is
/// 2 tokens R H FLOP a product, of which none is the model's. Experts have their rows in order then, and take them one
/// after another (`loop`) or together.
#include "models/cpu/cache.hpp"
#include "schedule/program/block_builder.hpp"
#include "schedule/program/shared_experts.hpp"
#include "schedule/program/split_sequences.hpp"

namespace auspex::schedule {
namespace {

constexpr double kIndexBytes = 8;  // torch.int64

/// Sizes of this rank's expert work under uniform routing.
struct ExpertSizes {
    double rows;
    double tokens;   ///< counted, indexed and summed here: the gathered ones, or with all-to-all the rank's own
    double present;  ///< in the tensor that the experts read: the gathered tokens, or with all-to-all the rows received
    double indexed;  ///< experts that an index is made for: the rank's, or with all-to-all those of every rank
    double experts, h, i, a, k, all;
    double rows_each;  ///< rows of one expert
    double sorted;     ///< elements of the rows that all-to-all dispatch sorts by expert, or back
};

ExpertSizes sizes_of(const Shapes& s) {
    const double rows = s.routed_rows;
    const auto all = static_cast<double>(s.workload.num_experts);
    return {rows,
            s.all_to_all ? s.t_routed : s.gathered,
            s.all_to_all ? rows : s.gathered,
            s.all_to_all ? all : s.experts_on_rank,
            s.experts_on_rank,
            s.h,
            s.expert_size,
            s.a,
            static_cast<double>(s.workload.top_k),
            all,
            rows / s.experts_on_rank,
            s.all_to_all && s.experts_on_rank > 1 ? rows * s.h : 0};
}

models::Kernel routed(models::Kernel kernel) {
    kernel.routed = true;
    return kernel;
}
models::Kernel routed_memory(double bytes, double launches) { return routed(models::memory_kernel(bytes, launches)); }

/// A product an expert, one after another.
bool multiplies_by_expert(const Shapes& s) {
    return s.plan.expert_kernels == models::ExpertKernels::kLoop || s.stack.products_by_expert;
}

/// The expert products as plan and stack run them: one grouped kernel, or one launch an expert. `m, n, k` are of one
/// expert.
models::Kernel expert_product(const Shapes& s, double m, double n, double k) {
    const double experts = s.experts_on_rank;
    models::Kernel kernel = routed(plan_gemm(s, m, n, k, multiplies_by_expert(s) ? 1 : experts));
    kernel.flop *= s.token_share;
    kernel.repeat = multiplies_by_expert(s) ? experts : 1;
    return kernel;
}

void append_weight_gradient(const Shapes& s, std::vector<models::Kernel>& kernels, double m, double n, double k) {
    const bool one_by_one = multiplies_by_expert(s);
    for (models::Kernel kernel : linear_weight_gradient(s, m, n, k, one_by_one ? 1 : s.experts_on_rank)) {
        if (kernel.type == models::KernelType::kGemm) {
            kernel.routed = kernel.routed_depth = true;  // the rows are the depth of this product
            kernel.flop *= s.token_share;
        }
        kernel.repeat = one_by_one ? s.experts_on_rank : 1;
        kernels.push_back(kernel);
    }
}

// By masks.

/// Experts look for their rows one after another.
bool searches(const Shapes& s) { return s.plan.expert_kernels == models::ExpertKernels::kLoop && !s.masks; }

models::Kernel mask_product(const Shapes& s, double m, double n, double k) {
    models::Kernel kernel = plan_gemm(s, m, n, k);
    kernel.flop = 0;
    return kernel;
}

/// One-hot numbers of 64 bits are written (8), made real (8 + 4), weighted (4 + 4), compared with 0 (4 + 1), and both
/// results cast (4 + a, 1 + a).
models::Kernel make_masks(const Shapes& s, const ExpertSizes& z) {
    return models::memory_kernel((38 + 2 * s.a) * z.tokens * z.rows, 6);
}

/// Gradients of weights: [tokens, H] x [H, R], made real (a + 4), multiplied by the one-hot numbers (4 + 4 + 4) and
/// summed over an expert's rows (4).
std::vector<models::Kernel> weights_by_masks(const Shapes& s, const ExpertSizes& z) {
    return {mask_product(s, z.tokens, z.rows, z.h), models::memory_kernel((20 + s.a) * z.tokens * z.rows, 3)};
}

// Loop baseline: kernels of the five stages, each list for all experts of the rank.

std::vector<models::Kernel> loop_counting(const ExpertSizes& z) {
    return {models::memory_kernel(z.all * z.k * z.tokens * kIndexBytes, 3)};
}

std::vector<models::Kernel> loop_indices(const ExpertSizes& z) {
    models::Kernel where = models::memory_kernel(z.indexed * z.tokens * z.k * models::kCacheLineBytes,
                                                 3 * z.indexed);  // the permuted mask is read across its rows
    where.host_syncs = z.indexed;
    return {where};
}

/// The activation between the products, of all experts of the rank.
models::Kernel expert_activation(const Shapes& s, const ExpertSizes& z) {
    const double gates = s.workload.gates(), elements = z.rows * z.i * s.a;
    return s.plan.expert_kernels == models::ExpertKernels::kLoop
               ? routed_memory((2 + 3 * (gates - 1)) * elements, gates * z.experts)
               : routed_memory((gates + 1) * elements, s.stack.kernels.activation);
}

std::vector<models::Kernel> loop_forward(const Shapes& s, const ExpertSizes& z) {
    const double gates = s.workload.gates();
    std::vector<models::Kernel> kernels{routed_memory(2 * z.rows * z.h * z.a, z.experts)};
    for (int gate = 0; gate < static_cast<int>(gates); ++gate) {
        kernels.push_back(expert_product(s, z.rows_each, z.i, z.h));
    }
    kernels.push_back(expert_activation(s, z));
    kernels.push_back(expert_product(s, z.rows_each, z.h, z.i));
    // Scaling by the weights; with all-to-all weights stay on the token's rank, and each output goes to its row's index
    // instead.
    kernels.push_back(routed_memory(2 * z.rows * z.h * z.a, z.experts));
    return kernels;
}

/// index_add, and the cast before it.
std::vector<models::Kernel> loop_reduction(const ExpertSizes& z) {
    return {routed_memory(5 * z.rows * z.h * z.a, 2 * z.experts)};
}

/// Backward of index_add is a gather; of the scaling (not with all-to-all, which scales at home) two products and a
/// sum; of the index gather a zeroed [T, H] tensor per expert, a sorted scatter into it, and its addition to the
/// gradient gathered so far: 4 passes over [T, H] for every expert, however few its rows ([R, H] with all-to-all).
std::vector<models::Kernel> loop_backward(const Shapes& s, const ExpertSizes& z) {
    const double gates = s.workload.gates();
    std::vector<models::Kernel> kernels{routed_memory(2 * z.rows * z.h * z.a, z.experts)};
    if (!s.all_to_all) {
        kernels.push_back(routed_memory(6 * z.rows * z.h * z.a, 3 * z.experts));
    }
    kernels.push_back(expert_product(s, z.rows_each, z.i, z.h));
    kernels.push_back(routed_memory((3 + 6 * (gates - 1)) * z.rows * z.i * z.a, (2 * gates - 1) * z.experts));
    for (int gate = 0; gate < static_cast<int>(gates); ++gate) {
        kernels.push_back(expert_product(s, z.rows_each, z.h, z.i));
    }
    kernels.push_back(routed_memory(3 * z.rows * z.h * z.a, z.experts));
    kernels.push_back(routed_memory(2 * z.rows * z.h * z.a, 4 * z.experts));
    models::Kernel zeroed = models::memory_kernel(4 * z.experts * z.present * z.h * z.a, 2 * z.experts);
    zeroed.routed = s.all_to_all;
    kernels.push_back(zeroed);
    return kernels;
}

// Grouped and fused: a few kernels for all experts.

/// `grouped` has the products of `fused`, but index, permute and reduction work as separate framework kernels: that
/// many passes. Of masks only the copies remain that bring rows from the order of ranks to that of experts.
double index_passes(const Shapes& s) {
    return s.plan.expert_kernels == models::ExpertKernels::kFused || s.masks ? 1 : 3;
}

/// Rows brought into the order of experts before the products (or, `after` them, back): from the gathered tokens by
/// their indices, or with all-to-all from the order of arrival.
models::Kernel reorder(const Shapes& s, double elements) {
    const double scans = index_passes(s);
    return routed_memory(elements * s.a * scans, elements > 0 ? scans : 0);
}

models::Kernel plain_memory(double bytes, double launches) {
    models::Kernel kernel = routed_memory(bytes, launches);
    kernel.plain = true;
    return kernel;
}

/// The framework adds biases to what experts put out, outside of the products.
bool adds_biases(const Shapes& s) { return s.stack.biases_by_expert && s.workload.biases; }

/// Biases times routing weights are real (4), added to an expert's outputs (a + 4 + 4), the sums joined (4 + 4) and
/// cast (4 + a): two kernels an expert and two for all (Megatron-Core, TEGroupedMLP._apply_bias).
models::Kernel add_biases(const ExpertSizes& z) {
    return plain_memory((24 + 2 * z.a) * z.rows * z.h, 2 * z.experts + 2);
}

/// Gradients are cast back (a + 4), for the outputs once more (4 + a) and joined (a + a); for the biases multiplied by
/// the weights (4 + 4) and summed (4), for the weights multiplied by the biases (4 + 4) and summed (4).
models::Kernel bias_gradients(const ExpertSizes& z) {
    return plain_memory((32 + 4 * z.a) * z.rows * z.h, 3 * z.experts + 1);
}

std::vector<models::Kernel> grouped_forward(const Shapes& s, const ExpertSizes& z) {
    const double gates = s.workload.gates();
    std::vector<models::Kernel> kernels{reorder(s, s.all_to_all ? 2 * z.sorted
                                                   : s.masks    ? 0
                                                                : 2 * z.rows * z.h),
                                        expert_product(s, z.rows_each, gates * z.i, z.h), expert_activation(s, z),
                                        expert_product(s, z.rows_each, z.h, z.i)};
    if (adds_biases(s)) {
        kernels.push_back(add_biases(z));
    }
    kernels.push_back(reorder(s, 2 * z.sorted));
    return kernels;
}

std::vector<models::Kernel> grouped_backward(const Shapes& s, const ExpertSizes& z) {
    const double gates = s.workload.gates();
    const double parts = s.plan.expert_kernels == models::ExpertKernels::kLoop ? z.experts : 1;
    std::vector<models::Kernel> kernels{reorder(s, 2 * z.sorted)};
    if (adds_biases(s)) {
        kernels.push_back(bias_gradients(z));
    }
    kernels.insert(kernels.end(),
                   {expert_product(s, z.rows_each, z.i, z.h),
                    routed_memory((2 * gates + 1) * z.rows * z.i * z.a, parts * s.stack.kernels.activation),
                    expert_product(s, z.rows_each, z.h, gates * z.i),
                    s.masks && !s.all_to_all ? mask_product(s, z.tokens, z.h, z.rows)
                                             : reorder(s, s.all_to_all ? 2 * z.sorted : (z.rows + z.tokens) * z.h)});
    return kernels;
}

std::vector<models::Kernel> weight_gradients(const Shapes& s, const ExpertSizes& z) {
    const bool loop = s.plan.expert_kernels == models::ExpertKernels::kLoop;
    const int gates = s.workload.gates();
    std::vector<models::Kernel> kernels;
    append_weight_gradient(s, kernels, z.rows_each, z.h, z.i);
    for (int gate = 0; gate < (loop ? gates : 1); ++gate) {
        append_weight_gradient(s, kernels, z.rows_each, (loop ? 1 : gates) * z.i, z.h);
    }
    return kernels;
}

/// Tokens to the ranks that hold their experts, or back. All-to-all: each to its own, and in front of the rows that go
/// to experts the number of each one's expert; weights stay at home. Else all of them to everyone: a token's row, and
/// on the way to experts the numbers of its K experts and their weights, backward the gradients of these weights.
/// Hierarchical: the same to every rank that has one of a token's experts, by way of one rank of its node.
Value exchange(BlockBuilder& b, OpKind kind, bool towards_experts, Value x) {
    const Shapes& s = b.shapes();
    const bool with_choices = kind == OpKind::kTokenCommunication;
    if (s.plan.dispatch == models::Dispatch::kAllToAll) {
        const Buffer numbers{with_choices && towards_experts ? s.routed_rows : 0, ElementType::kInt64};
        return b.communicate(kind, Stream::kEp, CommKind::kAllToAll, models::GroupKind::kEp, s.plan.ep,
                             {numbers, {s.routed_rows * s.h}}, {x}, {.routed = true});
    }
    const double choices = s.gathered * s.workload.top_k;
    const CommKind out = s.by_node ? CommKind::kRowsToNodes : CommKind::kAllGather;
    const CommKind back = s.by_node ? CommKind::kRowsFromNodes : CommKind::kReduceScatter;
    return b.communicate(kind, Stream::kEp, towards_experts ? out : back, models::GroupKind::kEp, s.plan.ep,
                         {{s.gathered * s.h},
                          {with_choices && towards_experts ? choices : 0, ElementType::kInt64},
                          {with_choices ? choices : 0, ElementType::kFp32}},
                         {x}, {.routed = s.by_node});
}

/// Forward one pass more adds the bias, and one ranks the tokens of each expert where it has no room for all.
double router_passes(const Shapes& s) {
    return s.stack.kernels.router_topk + (s.workload.router_bias ? 1 : 0) + (s.workload.capacity_factor > 0 ? 1 : 0);
}

models::Kernel router_top_k(const Shapes& s, double passes) {
    return models::memory_kernel(passes * 2 * s.t_routed * s.workload.num_experts * 4, passes);
}

/// Choices of the sequences of a micro-batch, counted over the ranks that route parts of them: first those of a tp
/// group, then of cp. The load balance and its gradient are made of these numbers.
Value count_over_sequences(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    if (!splits_routed_sequences(s.workload, s.plan)) {
        return x;
    }
    const double counts = static_cast<double>(s.plan.micro_batch_size) * s.workload.num_experts;
    const auto sum = [&](models::GroupKind group, int size) {
        x = b.communicate(OpKind::kTokenCounting, group == models::GroupKind::kCp ? Stream::kCp : Stream::kTp,
                          CommKind::kAllReduce, group, size, {{counts, ElementType::kFp32}}, {x});
    };
    sum(models::GroupKind::kTp, s.plan.etp < s.plan.tp ? s.plan.tp : 1);
    sum(models::GroupKind::kCp, s.plan.cp);
    return x;
}

/// Counting of the choices by expert, and the indices that sort them; with all-to-all also the rows, gathered from the
/// tokens by these indices.
Value index_tokens(BlockBuilder& b, const ExpertSizes& z, Value x) {
    const Shapes& s = b.shapes();
    if (s.masks) {
        x = b.compute(OpKind::kTokenCounting, {x}, {make_masks(s, z)});
        return b.compute(OpKind::kIndexGeneration, {x}, {mask_product(s, z.rows, z.h, z.tokens)});
    }
    const bool loop = searches(s);
    const double scans = index_passes(s), indices = z.tokens * z.k;
    x = b.compute(OpKind::kTokenCounting, {x},
                  loop ? loop_counting(z)
                       : std::vector<models::Kernel>{models::memory_kernel(indices * kIndexBytes * scans, 3 * scans)});
    std::vector<models::Kernel> kernels = loop ? loop_indices(z)
                                               : std::vector<models::Kernel>{models::memory_kernel(
                                                     (indices * kIndexBytes + 3 * z.rows * 4) * scans, scans)};
    if (s.all_to_all) {
        kernels.push_back(models::memory_kernel(2 * z.rows * z.h * z.a * scans, scans));
    }
    return b.compute(OpKind::kIndexGeneration, {x}, kernels);
}

/// The sum over the K outputs of each token, in front of the return or, with all-to-all, at home behind it.
Value return_tokens(BlockBuilder& b, const ExpertSizes& z, Value x) {
    const Shapes& s = b.shapes();
    const double scans = index_passes(s);
    x = s.all_to_all ? exchange(b, OpKind::kTokenReturn, false, x) : x;
    const models::Kernel sum = s.masks ? mask_product(s, z.tokens, z.h, z.rows)
                                       : models::memory_kernel((z.rows + z.tokens) * z.h * z.a * scans, scans);
    x = b.compute(OpKind::kOutputReduction, {x},
                  searches(s) && !s.all_to_all ? loop_reduction(z) : std::vector<models::Kernel>{sum});
    return s.all_to_all ? x : exchange(b, OpKind::kTokenReturn, false, x);
}

/// Backward of return_tokens: a token's gradient goes to its K rows, times their weights, and to the weights.
Value return_tokens_backward(BlockBuilder& b, const ExpertSizes& z, Value g) {
    const Shapes& s = b.shapes();
    const double scans = index_passes(s);
    g = s.all_to_all ? g : exchange(b, OpKind::kTokenReturn, true, g);
    if (s.masks) {
        std::vector<models::Kernel> kernels = weights_by_masks(s, z);
        kernels.push_back(mask_product(s, z.rows, z.h, z.tokens));
        g = b.compute(OpKind::kOutputReduction, {g}, kernels);
    } else if (s.all_to_all || !searches(s)) {  // the loop has it among its experts' kernels
        g = b.compute(OpKind::kOutputReduction, {g},
                      {models::memory_kernel((z.tokens + 2 * z.rows) * z.h * z.a * scans, 2 * scans)});
    }
    return s.all_to_all ? exchange(b, OpKind::kTokenReturn, true, g) : g;
}

}  // namespace

Value experts_forward(BlockBuilder& b, Value input) {
    const Shapes& s = b.shapes();
    const ExpertSizes z = sizes_of(s);
    const bool loop = searches(s);
    const Value entered = enter_experts(b, input);
    Value x = b.compute(OpKind::kRouter, {entered}, {linear_forward(s, s.t_routed, z.all, z.h, s.plan.etp)});
    x = b.compute(OpKind::kRouterTopK, {x}, {router_top_k(s, router_passes(s))});
    x = count_over_sequences(b, x);
    x = s.all_to_all ? index_tokens(b, z, x) : x;
    x = exchange(b, OpKind::kTokenCommunication, true, x);
    const Value shared = shared_forward(b, input, entered);
    x = s.all_to_all ? x : index_tokens(b, z, x);
    x = b.compute(OpKind::kExpertComputation, {x}, loop ? loop_forward(s, z) : grouped_forward(s, z));
    x = return_tokens(b, z, x);
    return b.phase() == Phase::kRecompute ? x : leave_with_shared(b, x, shared);
}

void recompute_expert_activation(BlockBuilder& b) {
    const Shapes& s = b.shapes();
    b.compute(OpKind::kActivation, {}, {expert_activation(s, sizes_of(s))});
}

Value experts_backward(BlockBuilder& b, Value outer) {
    const Shapes& s = b.shapes();
    const ExpertSizes z = sizes_of(s);
    const bool loop = searches(s);
    const Value entered = enter_experts(b, outer);
    const Value rows = return_tokens_backward(b, z, entered);
    Value g = b.compute(OpKind::kExpertComputation, {rows}, loop ? loop_backward(s, z) : grouped_backward(s, z));
    g = exchange(b, OpKind::kTokenCommunication, false, g);
    b.set_phase(Phase::kBackwardWeight);
    b.compute(OpKind::kExpertComputation, {rows}, weight_gradients(s, z));
    b.set_phase(Phase::kBackwardInput);
    const SharedGradient shared = shared_backward(b, outer, entered);
    if (s.all_to_all) {
        g = b.compute(
            OpKind::kIndexGeneration, {g},
            {s.masks ? mask_product(s, z.tokens, z.h, z.rows)
                     : models::memory_kernel((z.rows + z.tokens) * z.h * z.a * index_passes(s), index_passes(s))});
    }
    g = b.compute(OpKind::kRouterTopK, {g}, {router_top_k(s, 2.0 * s.stack.kernels.router_topk)});
    const Value input = b.compute(OpKind::kRouter, {g}, {linear_input_gradient(s, s.t_routed, z.all, z.h, s.plan.etp)});
    b.set_phase(Phase::kBackwardWeight);
    b.compute(OpKind::kRouter, {g, shared.saved}, linear_weight_gradient(s, s.t_routed, z.all, z.h, 1, s.plan.etp));
    b.set_phase(Phase::kBackwardInput);
    return leave_with_shared(b, input, shared.sum);
}

}  // namespace auspex::schedule
