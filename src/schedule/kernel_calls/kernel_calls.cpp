/// @file The kernel calls of an operation; those of tensor-parallel sums and messages.
#include "schedule/kernel_calls/kernel_calls.hpp"

#include "base/error.hpp"
#include "schedule/kernel_calls/call_lists.hpp"

namespace auspex::schedule {
models::CpuCall row_call(models::CpuKernel kernel, double rows, double columns, double depth) {
    models::CpuCall call;
    call.kernel = kernel;
    call.rows = rows, call.columns = columns, call.depth = depth;
    return call;
}

models::CpuCall flat_call(models::CpuKernel kernel, double columns) { return row_call(kernel, 1, columns); }

models::CpuCall linear_call(const LocalShapes& z, const Operation& op, double rows, double out, double in) {
    models::CpuCall call;
    if (runs_forward(op)) {
        call = row_call(models::CpuKernel::kGemmForward, rows, out, in);
    } else if (op.phase == Phase::kBackwardInput) {
        call = row_call(models::CpuKernel::kGemmInputGradient, rows, in, out);
    } else {
        call = row_call(models::CpuKernel::kGemmWeightGradient, out, in, rows);
    }
    call.cold_bytes = out * in * (op.phase == Phase::kBackwardWeight ? 2 * z.g : z.w);
    return call;
}

std::vector<models::CpuCall> with_bias(const LocalShapes& z, const Operation& op, const models::CpuCall& linear,
                                       double rows, double out) {
    std::vector<models::CpuCall> calls{linear};
    if (z.s.workload.biases && runs_forward(op)) {
        calls.push_back(flat_call(models::CpuKernel::kAdd, rows * out));
    } else if (z.s.workload.biases && op.phase == Phase::kBackwardWeight) {
        calls.push_back(row_call(models::CpuKernel::kSquareSums, rows, out));
    }
    return calls;
}

models::CpuCall with_cold_operands(const LocalShapes& z, const Operation& op, models::CpuCall call, bool keeps,
                                   double elements) {
    call.cold_bytes += keeps && op.phase != Phase::kRecompute ? elements * z.w : 0;
    return call;
}

models::CpuCall router_choice(const LocalShapes& z, double rows) {
    const bool learned = z.s.plan.routing.kind == models::RoutingDistribution::kLearned;
    return row_call(learned ? models::CpuKernel::kRouterForward : models::CpuKernel::kRouterUniform, rows,
                    z.all_experts, z.top_k);
}

std::vector<models::CpuCall> check_and_copy(const LocalShapes& z, double elements) {
    return {flat_call(models::CpuKernel::kFiniteCheck, elements), flat_call(models::CpuKernel::kCopy, elements * z.w)};
}

LocalShapes local_shapes(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                         const models::Layout& layout, int stage) {
    LocalShapes z{shapes_of(workload, plan, stack), layout, stage};
    z.sequences = plan.micro_batch_size, z.sequence = workload.sequence_length;
    z.heads = workload.heads / z.s.tp, z.head = workload.head_size;
    z.q = z.heads * z.head, z.kv = workload.kv_heads / z.s.tp * z.head, z.qkv = z.q + 2 * z.kv;
    z.attention = attention_widths(z.s);
    z.inner = workload.intermediate_size / z.s.tp;
    z.shared = static_cast<double>(workload.shared_experts) * workload.expert_size / z.s.tp;
    z.vocabulary = workload.vocab_size / z.s.tp;
    z.all_experts = workload.num_experts, z.experts = z.s.experts_on_rank, z.top_k = workload.top_k;
    z.w = plan.weight_bytes, z.g = plan.gradient_bytes;
    return z;
}

bool tp_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls) {
    const bool over_etp = op.group == models::GroupKind::kEtp;
    const double whole = (over_etp ? z.s.t_routed : z.s.t) * z.s.h, slice = z.s.t / z.s.tp * z.s.h;
    switch (op.kind) {
        case OpKind::kTpAllReduce: {
            const double elements = op.carries == Carries::kQkNormSums     ? 2 * z.s.t
                                    : op.carries == Carries::kSoftmaxParts ? 3 * z.s.t
                                                                           : whole;
            calls.before = {flat_call(models::CpuKernel::kFiniteCheck, elements)};
            return true;
        }
        case OpKind::kTpReduceScatter:
            calls.before = {flat_call(models::CpuKernel::kFiniteCheck, whole)};
            calls.after = {flat_call(models::CpuKernel::kCopy, slice * z.w)};
            return true;
        case OpKind::kTpAllGather: calls.before = check_and_copy(z, slice); return true;
        default: return false;
    }
}

/// A message is copied into the transport before it leaves, and out of a buffer after it has come: the value, and
/// router logits where they travel.
bool message_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls) {
    const bool sends = op.kind == OpKind::kSendForward || op.kind == OpKind::kSendBackward;
    if (!sends && op.kind != OpKind::kReceiveForward && op.kind != OpKind::kReceiveBackward) {
        return false;
    }
    const StageMessage message = stage_message(z.s.workload, z.s.plan, z.s.stack, op.message);
    if (!sends && z.s.plan.overlap_pp) {  // it has come into memory of the transport
        calls.after.push_back(
            flat_call(models::CpuKernel::kCopy, (message.activations.elements + message.router_logits.elements) * z.w));
    }
    for (const Buffer& buffer : {message.activations, message.router_logits}) {
        if (buffer.elements > 0) {
            const std::vector<models::CpuCall> leaves = check_and_copy(z, buffer.elements);
            sends ? calls.before.insert(calls.before.end(), leaves.begin(), leaves.end())
                  : calls.after.insert(calls.after.end(), leaves.back());
        }
    }
    return true;
}

namespace {

/// A copy to memory that was last touched long ago, or from it; waiting for it is nothing, for it is done at once.
bool host_copy_calls(const Operation& op, OperationCalls& calls) {
    if (is_host_copy(op.comm)) {
        calls.before = {flat_call(models::CpuKernel::kCopy, op.bytes)};
        calls.before.front().cold_bytes = op.bytes;
    }
    return is_host_copy(op.comm) || op.kind == OpKind::kHostCopyWait;
}

/// What is made again of the operation's layer.
models::Recompute redone_of(const LocalShapes& z, const Operation& op) {
    for (int chunk = 0; op.layer >= 0 && chunk < z.s.plan.virtual_stages; ++chunk) {
        const LayerRange layers = layers_of(z.s.workload, z.s.plan, virtual_stage_of(z.s.plan, chunk, z.stage));
        if (op.layer >= layers.first && op.layer < layers.last) {
            return recompute_of(z.s.plan, op.layer - layers.first);
        }
    }
    return {};
}

}  // namespace

OperationCalls kernel_calls(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                            const models::Layout& layout, int stage, const Operation& op) {
    LocalShapes z = local_shapes(workload, plan, stack, layout, stage);
    z.redone = redone_of(z, op);
    OperationCalls calls;
    const bool known = attention_calls(z, op, calls) || context_calls(z, op, calls) ||
                       feed_forward_calls(z, op, calls) || expert_calls(z, op, calls) || head_calls(z, op, calls) ||
                       tp_calls(z, op, calls) || message_calls(z, op, calls) || host_copy_calls(op, calls) ||
                       step_calls(z, op, calls);
    AUSPEX_CHECK(known, "an operation that the trainer runs");
    const std::vector<models::CpuCall> cleared = cleared_gradients(z, op);
    calls.before.insert(calls.before.begin(), cleared.begin(), cleared.end());
    constexpr double kBlocks = 2;
    calls.before.insert(calls.before.begin(), flat_call(models::CpuKernel::kOperation, kBlocks));
    return calls;
}

models::CpuPrecision cpu_precision(const models::Plan& plan) {
    return plan.weight_bytes < 4 ? models::CpuPrecision::kBf16 : models::CpuPrecision::kFp32;
}

}  // namespace auspex::schedule
