#pragma once
/// @file The kernels that the trainer calls, by name and sizes, and the cost model of their time on one core.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace auspex::models {

/// A kernel of src/exec/kernels (or of the optimizer and the transport's sums) as a core runs it. Behind each: what
/// CpuCall's rows, columns, depth and groups are.
enum class CpuKernel : std::uint8_t {
    kGemmForward,         ///< linear_forward: rows, columns = out, depth = in
    kGemmInputGradient,   ///< linear_input_gradient: rows, columns = in, depth = out
    kGemmWeightGradient,  ///< linear_weight_gradient, added to what is there: rows = out, columns = in, depth = tokens
    kNormForward,         ///< rows, columns = width
    kNormBackward,
    kSquareSums,      ///< rows, columns = width (queries or keys)
    kQkNormForward,   ///< rows, columns = width
    kQkNormProducts,  ///< rows, columns = width
    kQkNormBackward,
    kRotate,            ///< rows, columns = heads * head_size, depth = head_size
    kAttentionForward,  ///< groups = sequences * heads, rows = sequence, depth = head_size (causal)
    kAttentionBackward,
    kSwigluForward,  ///< rows, columns = inner
    kSwigluBackward,
    kAdd,               ///< rows = 1, columns = elements
    kEmbeddingForward,  ///< rows, columns = width
    kEmbeddingBackward,
    kCrossEntropyParts,  ///< cross_entropy_parts and cross_entropy_sum: rows, columns = vocabulary
    kCrossEntropyBackward,
    kRouterForward,   ///< softmax, the choice (top-k of the router), the choices' weights: rows, columns = experts,
                      ///< depth = top_k
    kRouterUniform,   ///< the same where the choice is the fixed even pattern
    kRouterLosses,    ///< z-loss and balance sums: rows, columns = experts, depth = top_k
    kRouterBackward,  ///< all gradients of the logits: rows, columns = experts, depth = top_k
    kCountChoices,    ///< rows = slots (tokens * top_k), columns = experts counted
    kSortSlots,       ///< rows = slots, columns = experts
    kOneHotMask,      ///< rows = tokens, columns = all experts, depth = top_k
    kFindInMask,      ///< for `groups` experts, one after another: rows = tokens, columns = all experts, depth = top_k
    kGatherRows,      ///< rows, columns = hidden: rows picked by an index
    kSumRows,       ///< sum_rows of kLoop and kGrouped: rows = tokens, columns = hidden, depth = summed per token, mean
    kSumRowsFused,  ///< the same of kFused, which with bf16 is another function
    kSumRowsBackward,       ///< sum_rows_backward of kLoop and kGrouped: rows = routed rows, columns = hidden
    kSumRowsBackwardFused,  ///< the same of kFused
    // Experts: groups = experts, rows = all routed rows, columns = inner, depth = hidden. Over rows that are sorted by
    // expert already: nothing is gathered, sent back or summed by token (kGatherRows and kSumRows are).
    kExpertsForwardLoop,  ///< expert_forward
    kExpertsForwardGrouped,
    kExpertsForwardFused,
    kExpertsBackwardLoop,  ///< expert_backward
    kExpertsBackwardGrouped,
    kExpertsBackwardFused,
    kExpertsWeightsLoop,     ///< expert_weight_gradients
    kExpertsWeightsGrouped,  ///< the same with kGrouped and kFused
    kZero,                   ///< rows = 1, columns = bytes: cleared (std::fill)
    kCopy,                   ///< rows = 1, columns = bytes: copied
    kFiniteCheck,            ///< rows = 1, columns = elements of the values' type
    kFiniteCheckGradients,   ///< the same of the gradients' type
    kSquareSum,              ///< rows = 1, columns = gradient elements: for the gradients' norm
    kAdamW,                  ///< rows = tensor parts, columns = elements of all together
    kReduceParts,            ///< reduce_parts of values: rows = 1, columns = elements of the result, depth = parts
    kReducePartsGradients,   ///< the same of gradients
    kReduceSoftmaxParts,     ///< kLogSumExp: columns = triples * 3, depth = parts
    kOperation,  ///< what walking the program takes for an operation beside its kernels: blocks of the arena
                 ///< taken and given back, counts, the clock read twice; columns = blocks
    kCount
};
inline constexpr std::size_t kCpuKernels = static_cast<std::size_t>(CpuKernel::kCount);
/// "gemm_forward", "experts_weights_grouped", …
[[nodiscard]] std::string_view to_string(CpuKernel kernel);

/// Rows of one expert that kFused takes through all its passes at a time, at most: few enough for the caches, enough to
/// pay for packing an expert's weights. From 256 to 1024 the time is the same (bench/expert_bench.cpp).
inline constexpr std::size_t kFusedRows = 512;

/// Queries of a head that attention takes at a time: their scores with all keys are one product, and stay in the
/// caches.
inline constexpr std::size_t kAttentionBand = 64;

/// What weights and gradients are stored in. kBf16: bf16 weights, activations and gradients.
enum class CpuPrecision : std::uint8_t { kFp32, kBf16 };
inline constexpr std::size_t kCpuPrecisions = 2;
/// "fp32", "bf16".
[[nodiscard]] std::string_view to_string(CpuPrecision precision);

/// One call, or `repeat` equal ones in succession.
struct CpuCall {
    CpuKernel kernel = CpuKernel::kCopy;
    double rows = 1, columns = 1, depth = 1, groups = 1;
    double repeat = 1;
    /// Of one call: bytes of operands that were last touched long ago (weights, their gradients, optimizer states, what
    /// a forward pass keeps for the backward pass), so that they come from memory where the last-level cache is too
    /// small.
    double cold_bytes = 0;
};

/// Most terms that a cost model has.
inline constexpr std::size_t kMaxCpuTerms = 7;

/// The cost model of a kernel on one core: seconds = sum over its terms of coefficient x size, no coefficient negative.
/// Terms:
///   "start" a call; "row", "column", "element" of rows x columns; "token", "slot", "choice", "head", "part",
///   "expert": each of them that the call works through;
///   of matrix products "product" a multiply-add, columns rounded up to vectors of 16; "lone_vector" rows x depth where
///   the last panel of 48 columns has one vector only; "output" an element of C; "left" one of A; "right" one of B; of
///   forward products, whose B lies by columns, "right" an access to it (four times as many where there are 16 rows or
///   more and fewer than 128 columns) and "aliased" one of these to a line that the others of a panel have evicted,
///   for columns a large power of two apart share sets of the first cache;
///   of attention "band" kAttentionBand queries of a head, "score" a query with a key up to the end of its band,
///   "product" a score times head_size; of experts "weight" an element of one projection of all experts, "inner",
///   "hidden" rows times that width; of rotation "rest_of_16" and "rest_of_32" elements of the halves of heads beyond
///   whole vectors (fp32, bf16); of the router's choice "insertion" an expert that is among the largest so far, "shift"
///   a position that it moves; of the mask "line" a cache line read, "found" a slot found; of sums "output" an element
///   written. What is meant by the others is in their names.
[[nodiscard]] std::span<const std::string_view> cpu_terms(CpuKernel kernel);
/// Sizes of the terms for a call (of one of its repeats), in the order of cpu_terms.
[[nodiscard]] std::array<double, kMaxCpuTerms> cpu_sizes(const CpuCall& call);
/// Bytes that one call reads and writes, each operand once: what crosses from the last-level cache to the core.
[[nodiscard]] double cpu_bytes(const CpuCall& call, CpuPrecision precision);

/// Fitted coefficients of one kernel, in seconds per unit of each term.
struct CpuKernelCost {
    std::array<double, kMaxCpuTerms> seconds_per{};
    double miss_byte_s = 0;     ///< added for each byte of its operands that comes from memory; 0: by a core's memory
                                ///< bandwidth, 1 / CpuModel::core_memory_bytes_per_s
    double capacity_bytes = 0;  ///< working set up to which its operands are found in caches and address translation,
                                ///< as it goes through them; 0: CpuModel::cache_bytes
    double relative_error = 0;  ///< typical residual of the fit: one standard deviation
    bool known = false;         ///< false: the machine file has no cost model of this kernel
};

}  // namespace auspex::models
