#pragma once
/// @file The kernel calls of an operation, by the part of the model that it belongs to, and helpers that make
/// them.
#include <vector>

#include "schedule/kernel_calls/operation_calls.hpp"
#include "schedule/program/block_builder.hpp"

namespace auspex::schedule {

/// Sizes on one rank that calls are made of (exec/state/shapes.hpp), beside those of Shapes.
struct LocalShapes {
    Shapes s;
    const models::Layout& layout;
    int stage = 0;
    double sequences = 1, sequence = 0;
    double heads = 0, head = 0, q = 0, kv = 0, qkv = 0;  ///< of this rank; not of latent attention
    AttentionWidths attention{};                         ///< of this rank, of any attention
    double inner = 0, shared = 0, vocabulary = 0;        ///< of this rank; shared: width of shared experts
    double all_experts = 0, experts = 0, top_k = 0;      ///< N, E of this rank, K
    double w = 4, g = 4;                                 ///< bytes of a weight or value, and of a gradient
    models::Recompute redone{};                          ///< of the operation's layer
};
[[nodiscard]] LocalShapes local_shapes(const models::Workload& workload, const models::Plan& plan,
                                       const models::Stack& stack, const models::Layout& layout, int stage);

/// An operation that runs its forward kernels: in a forward pass, or recomputed.
[[nodiscard]] inline bool runs_forward(const Operation& op) {
    return op.phase == Phase::kForward || op.phase == Phase::kRecompute;
}

// Calls. Weights and their gradients are cold (CpuCall::cold_bytes), and so is what a sublayer saves for its backward
// pass: it is written to memory last touched long ago, and read when much else has passed through the caches. What a
// pass has just made is warm, and so are the small tensors of router and head.
[[nodiscard]] models::CpuCall row_call(models::CpuKernel kernel, double rows, double columns, double depth = 1);
/// A call over one row of `columns` elements or bytes.
[[nodiscard]] models::CpuCall flat_call(models::CpuKernel kernel, double columns);
/// A linear layer [rows, in] -> [rows, out]: its product of the operation's phase.
[[nodiscard]] models::CpuCall linear_call(const LocalShapes& z, const Operation& op, double rows, double out,
                                          double in);
/// A linear layer's product, and what its bias of `out` elements takes where the model has them: it is added to every
/// row of the output, and its gradient is a sum over rows, which takes what a sum along rows takes. The first rank of a
/// tp group adds that of a last linear layer.
[[nodiscard]] std::vector<models::CpuCall> with_bias(const LocalShapes& z, const Operation& op,
                                                     const models::CpuCall& linear, double rows, double out);
/// The call with `elements` more cold values, unless they are recomputed: forward those that it saves for the backward
/// pass, backward those saved. None if not `keeps`.
[[nodiscard]] models::CpuCall with_cold_operands(const LocalShapes& z, const Operation& op, models::CpuCall call,
                                                 bool keeps, double elements);

/// The router's softmax and choices of `rows` tokens, as the plan's routing has them made.
[[nodiscard]] models::CpuCall router_choice(const LocalShapes& z, double rows);
/// The check for NaN and infinity of what is sent, and its copy into a buffer: `elements` of values.
[[nodiscard]] std::vector<models::CpuCall> check_and_copy(const LocalShapes& z, double elements);

/// Attention of a rank's queries to its keys, or to one part of them in a ring. The output is kept; backward queries,
/// keys and values are read, and the output just has been. Products with keys and with values are as many: one depth
/// stands for the mean of their widths. Of gathered keys there are cp times as many as queries, which see half of them;
/// with a window a share of that.
[[nodiscard]] models::CpuCall attention_call(const LocalShapes& z, const Operation& op);

// Each returns false if the operation is none of its own (exec/operations/operations.hpp has the same parts).
[[nodiscard]] bool attention_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls);
[[nodiscard]] bool context_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls);
[[nodiscard]] bool feed_forward_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls);
[[nodiscard]] bool head_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls);
[[nodiscard]] bool expert_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls);
[[nodiscard]] bool tp_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls);
[[nodiscard]] bool message_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls);
[[nodiscard]] bool step_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls);

/// Of a kernel with which the gradients of a bucket begin: tensors cleared before it; else none.
[[nodiscard]] std::vector<models::CpuCall> cleared_gradients(const LocalShapes& z, const Operation& op);

}  // namespace auspex::schedule
