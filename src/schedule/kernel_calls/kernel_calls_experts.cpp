/// @file The kernel calls of the mixture-of-experts block, routing even.
#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/kernel_calls/call_lists.hpp"

namespace auspex::schedule {
namespace {

using Calls = std::vector<models::CpuCall>;

// Bytes of an index, and of a number that is computed with: a choice's weight.
constexpr double kIndexBytes = 8, kRealBytes = 4;

/// Linear layers of the experts that the cost models are of.
constexpr double kMatricesOfLaw = 3;

/// Sizes of one rank's block, and the ways it goes (exec/operations/expert_context.hpp).
struct ExpertBlock {
    const LocalShapes& z;
    models::ExpertKernels kernels;
    bool all_to_all;       ///< all-to-all over ep > 1
    bool gathered;         ///< all-gather over ep > 1
    bool sorts_arrivals;   ///< sent, and the rank has several experts
    double rows;           ///< that the rank's experts compute
    double tokens, slots;  ///< counted here, and their choices
    double counted;        ///< experts that are told apart here
    double rows_of_token;  ///< of a token counted here, mean, that stay here

    explicit ExpertBlock(const LocalShapes& sizes)
        : z(sizes),
          kernels(sizes.s.plan.expert_kernels),
          all_to_all(sizes.s.all_to_all),
          gathered(sizes.s.plan.ep > 1 && !all_to_all),
          sorts_arrivals(all_to_all && sizes.experts > 1),
          rows(sizes.s.routed_rows),
          tokens(all_to_all ? sizes.s.t_routed : sizes.s.gathered),
          slots(tokens * sizes.top_k),
          counted(all_to_all ? sizes.all_experts : sizes.experts),
          rows_of_token(rows / tokens) {}
    [[nodiscard]] bool loop() const { return kernels == models::ExpertKernels::kLoop; }
    [[nodiscard]] bool fused() const { return kernels == models::ExpertKernels::kFused; }

    [[nodiscard]] models::CpuCall sum_rows(double each) const {
        return row_call(fused() ? models::CpuKernel::kSumRowsFused : models::CpuKernel::kSumRows, tokens, z.s.h, each);
    }
    [[nodiscard]] models::CpuCall sum_rows_backward(double count) const {
        return row_call(fused() ? models::CpuKernel::kSumRowsBackwardFused : models::CpuKernel::kSumRowsBackward, count,
                        z.s.h);
    }
    /// `elements` of values more that the sublayer keeps.
    [[nodiscard]] models::CpuCall with_saved(const Operation& op, const models::CpuCall& call, double elements) const {
        return with_cold_operands(z, op, call, !z.redone.expert, elements);
    }
    [[nodiscard]] models::CpuCall gather_rows() const { return row_call(models::CpuKernel::kGatherRows, rows, z.s.h); }
    /// Ranges of rows that the experts' kernels take through all their passes, one after another.
    [[nodiscard]] double ranges() const {
        const double blocks = std::ceil(rows / z.experts / static_cast<double>(models::kFusedRows));
        return loop() ? z.experts : fused() ? z.experts * blocks : 1;
    }
    /// Rows moved by the experts' kernels, range by range; `elements` of values more that the sublayer keeps.
    [[nodiscard]] models::CpuCall move_rows(const Operation& op, double elements = 0) const {
        models::CpuCall call = row_call(models::CpuKernel::kGatherRows, rows / ranges(), z.s.h);
        call.repeat = ranges();
        return with_saved(op, call, elements / ranges());
    }
    /// Linear layers of an expert: three with SwiGLU.
    [[nodiscard]] double matrices() const { return z.s.workload.gates() + 1; }
    /// One of the kernels over the rank's experts. Experts with GELU take what those with SwiGLU take that have as many
    /// weights.
    [[nodiscard]] models::CpuCall experts(models::CpuKernel of_loop, models::CpuKernel of_grouped,
                                          models::CpuKernel of_fused) const {
        models::CpuCall call = row_call(loop()    ? of_loop
                                        : fused() ? of_fused
                                                  : of_grouped,
                                        rows, z.s.expert_size * matrices() / kMatricesOfLaw, z.s.h);
        call.groups = z.experts;
        call.cold_bytes = matrices() * z.experts * z.s.expert_size * z.s.h * z.w;
        return call;
    }
    /// Biases of the rank's rows, added to what their linear layers make, or summed up over rows; those of the last
    /// layer are shared out over etp.
    [[nodiscard]] std::vector<double> bias_columns() const {
        const models::Workload& w = z.s.workload;
        return w.biases ? std::vector<double>{w.gates() * z.s.expert_size, z.s.h / z.s.plan.etp}
                        : std::vector<double>{};
    }
    /// Gradients of the choices' weights begin at 0.
    [[nodiscard]] models::CpuCall clear_weight_gradients() const {
        return flat_call(models::CpuKernel::kZero, slots * kRealBytes);
    }
};

models::CpuCall repeated(models::CpuCall call, double times) {
    call.repeat = times;
    return call;
}

/// The z-loss and balance sums are those of the first tp rank, which the others wait for. In bf16 logits are rounded.
Calls router(const LocalShapes& z, const Operation& op) {
    Calls calls = with_bias(z, op, linear_call(z, op, z.s.t_routed, z.all_experts, z.s.h), z.s.t_routed, z.all_experts);
    if (runs_forward(op) && cpu_precision(z.s.plan) == models::CpuPrecision::kBf16) {
        calls.push_back(flat_call(models::CpuKernel::kAdd, z.s.t_routed * z.all_experts));
    }
    return calls;
}

Calls router_top_k(const LocalShapes& z, const Operation& op) {
    const double logits = z.s.t_routed * z.all_experts;
    const bool global = z.s.workload.global_aux_loss;
    const auto call = [&](models::CpuKernel kernel) { return row_call(kernel, z.s.t_routed, z.all_experts, z.top_k); };
    if (!runs_forward(op)) {
        Calls calls{call(models::CpuKernel::kRouterBackward)};
        if (global) {
            calls.push_back(flat_call(models::CpuKernel::kAdd, logits));
        }
        return calls;
    }
    Calls calls{router_choice(z, z.s.t_routed)};
    if (z.s.workload.router_bias && z.s.plan.routing.kind == models::RoutingDistribution::kLearned) {
        calls.push_back(flat_call(models::CpuKernel::kAdd, logits));
    }
    if (z.s.workload.capacity_factor > 0) {
        calls.push_back(row_call(models::CpuKernel::kCountChoices, z.s.t_routed * z.top_k, z.all_experts));
    }
    if (op.phase == Phase::kForward) {
        calls.push_back(call(models::CpuKernel::kRouterLosses));
        if (z.s.workload.router_bias) {
            calls.push_back(row_call(models::CpuKernel::kCountChoices, z.s.t_routed * z.top_k, z.all_experts));
        }
        if (global) {
            calls.push_back(flat_call(models::CpuKernel::kCopy, logits * kRealBytes));
        }
    }
    return calls;
}

Calls token_counting(const ExpertBlock& b) {
    Calls calls{row_call(models::CpuKernel::kCountChoices, b.slots, b.counted)};
    if (b.loop()) {
        calls.push_back(row_call(models::CpuKernel::kOneHotMask, b.tokens, b.z.all_experts, b.z.top_k));
    }
    return calls;
}

/// Choices of whole sequences, over tp first. The balance behind it is among the router's losses.
Calls sequence_counting(const ExpertBlock& b, const Operation& op) {
    const models::Plan& plan = b.z.s.plan;
    const bool counts = op.group == models::GroupKind::kTp || plan.etp >= plan.tp;
    return counts ? Calls{row_call(models::CpuKernel::kCountChoices, b.z.s.t_routed * b.z.top_k, b.z.all_experts)}
                  : Calls{};
}

/// With all-to-all rows are also gathered, and the expert of each looked up, which takes what a count takes; backward
/// their gradients are summed by token.
Calls index_generation(const ExpertBlock& b, const Operation& op) {
    if (!runs_forward(op)) {
        return {b.sum_rows(b.rows_of_token)};
    }
    Calls calls;
    if (b.loop()) {
        calls = {row_call(models::CpuKernel::kFindInMask, b.tokens, b.z.all_experts, b.z.top_k)};
        calls.back().groups = b.counted;
    } else {
        calls = {row_call(models::CpuKernel::kSortSlots, b.slots, b.counted)};
    }
    if (b.all_to_all) {
        calls.push_back(b.gather_rows());
        calls.push_back(row_call(models::CpuKernel::kCountChoices, b.rows, b.counted));
    }
    return calls;
}

/// Kept are sorted rows, gates and ups, products, and outputs where they are summed here.
Calls experts_forward(const ExpertBlock& b, const Operation& op) {
    const double hidden = b.rows * b.z.s.h, inner = b.rows * b.z.s.expert_size;
    Calls calls;
    if (b.all_to_all) {
        calls.push_back(row_call(models::CpuKernel::kCountChoices, b.rows, b.z.experts));
    }
    if (b.sorts_arrivals) {
        calls.push_back(row_call(models::CpuKernel::kSortSlots, b.rows, b.z.experts));
    }
    if (!b.all_to_all || b.sorts_arrivals) {
        calls.push_back(b.move_rows(op, hidden));
    }
    const models::CpuCall products =
        b.experts(models::CpuKernel::kExpertsForwardLoop, models::CpuKernel::kExpertsForwardGrouped,
                  models::CpuKernel::kExpertsForwardFused);
    calls.push_back(b.with_saved(op, products, b.matrices() * inner + (b.all_to_all ? 0 : hidden)));
    for (const double columns : b.bias_columns()) {
        calls.push_back(flat_call(models::CpuKernel::kAdd, b.rows * columns));
    }
    if (b.sorts_arrivals) {
        calls.push_back(b.move_rows(op));
    }
    return calls;
}

/// Gradients of the sums by token: outputs were kept, or what has come back.
models::CpuCall sums_backward(const ExpertBlock& b, const Operation& op, double rows) {
    return b.with_saved(op, b.sum_rows_backward(rows), rows * b.z.s.h);
}

/// kLoop without all-to-all: expert by expert also the gradients of the sums, and its rows into a cleared tensor of all
/// tokens, which is added to the others'.
Calls experts_backward(const ExpertBlock& b, const Operation& op) {
    const models::CpuCall products =
        b.with_saved(op,
                     b.experts(models::CpuKernel::kExpertsBackwardLoop, models::CpuKernel::kExpertsBackwardGrouped,
                               models::CpuKernel::kExpertsBackwardFused),
                     b.z.s.workload.gates() * b.rows * b.z.s.expert_size);
    if (b.all_to_all) {
        return b.sorts_arrivals ? Calls{b.move_rows(op), products, b.move_rows(op)} : Calls{products};
    }
    if (!b.loop()) {
        return {products, b.sum_rows(b.rows_of_token)};
    }
    const double elements = b.tokens * b.z.s.h, experts = b.z.experts;
    return {b.clear_weight_gradients(),
            flat_call(models::CpuKernel::kZero, elements * b.z.w),
            repeated(sums_backward(b, op, b.rows / experts), experts),
            products,
            repeated(b.sum_rows(b.rows_of_token / experts), experts),
            repeated(flat_call(models::CpuKernel::kAdd, elements), experts)};
}

/// Rows and products were kept.
Calls experts_weights(const ExpertBlock& b, const Operation& op) {
    models::CpuCall call = b.experts(models::CpuKernel::kExpertsWeightsLoop, models::CpuKernel::kExpertsWeightsGrouped,
                                     models::CpuKernel::kExpertsWeightsGrouped);
    call.cold_bytes *= 2 * b.z.g / b.z.w;
    Calls calls{b.with_saved(op, call, b.rows * (b.z.s.h + b.z.s.expert_size))};
    for (const double columns : b.bias_columns()) {
        calls.push_back(row_call(models::CpuKernel::kSquareSums, b.rows, columns));
    }
    return calls;
}

Calls expert_computation(const ExpertBlock& b, const Operation& op) {
    return runs_forward(op)                     ? experts_forward(b, op)
           : op.phase == Phase::kBackwardWeight ? experts_weights(b, op)
                                                : experts_backward(b, op);
}

Calls output_reduction(const ExpertBlock& b, const Operation& op) {
    if (runs_forward(op)) {
        return {b.sum_rows(b.rows_of_token)};
    }
    const models::CpuCall sums = sums_backward(b, op, b.rows);
    return b.all_to_all ? Calls{sums} : Calls{b.clear_weight_gradients(), sums};
}

/// `values` for every ep rank, and weights of choices, gathered: a check for NaN and infinity, and a copy of the rank's
/// own into the whole.
void gather(OperationCalls& calls, const ExpertBlock& b, bool with_choices) {
    calls.before = check_and_copy(b.z, b.z.s.t_routed * b.z.s.h);
    if (with_choices) {
        const double choices = b.z.s.t_routed * b.z.top_k;
        calls.before.push_back(flat_call(models::CpuKernel::kCopy, choices * kIndexBytes));
        calls.before.push_back(flat_call(models::CpuKernel::kFiniteCheck, choices));
        calls.before.push_back(flat_call(models::CpuKernel::kCopy, choices * kRealBytes));
    }
}

/// Values of all tokens summed over the ep ranks: a check for NaN and infinity, and a copy of the rank's own out of the
/// whole.
void reduce_to_own(OperationCalls& calls, const ExpertBlock& b, bool with_weights) {
    const LocalShapes& z = b.z;
    calls.before = {flat_call(models::CpuKernel::kFiniteCheck, b.tokens * z.s.h)};
    calls.after = {flat_call(models::CpuKernel::kCopy, z.s.t_routed * z.s.h * z.w)};
    if (with_weights) {
        calls.before.push_back(flat_call(models::CpuKernel::kFiniteCheck, b.slots));
        calls.after.push_back(flat_call(models::CpuKernel::kCopy, z.s.t_routed * z.top_k * kRealBytes));
    }
}

void token_communication(OperationCalls& calls, const ExpertBlock& b, const Operation& op) {
    if (b.all_to_all) {
        calls.before = {flat_call(models::CpuKernel::kFiniteCheck, b.rows * b.z.s.h)};
        if (runs_forward(op)) {
            calls.after = {flat_call(models::CpuKernel::kCopy, b.rows * kIndexBytes)};
        }
    } else if (runs_forward(op)) {
        gather(calls, b, true);
    } else {
        reduce_to_own(calls, b, true);
    }
}

void token_return(OperationCalls& calls, const ExpertBlock& b, const Operation& op) {
    if (b.all_to_all) {
        calls.before = {flat_call(models::CpuKernel::kFiniteCheck, b.rows * b.z.s.h)};
    } else if (runs_forward(op)) {
        reduce_to_own(calls, b, false);
    } else {
        gather(calls, b, false);
    }
}

/// Two linear layers around an activation. What they make is kept as in a dense feed-forward.
Calls shared_expert(const ExpertBlock& b, const Operation& op) {
    const LocalShapes& z = b.z;
    const double inner = z.s.t * z.shared, gates = z.s.workload.gates();
    const models::CpuCall first = linear_call(z, op, z.s.t, gates * z.shared, z.s.h);
    const models::CpuCall last = linear_call(z, op, z.s.t, z.s.h, z.shared);
    const auto activation = [&](models::CpuKernel kernel) { return row_call(kernel, z.s.t, z.shared); };
    const auto append = [](Calls calls, const Calls& more) {
        calls.insert(calls.end(), more.begin(), more.end());
        return calls;
    };
    if (runs_forward(op)) {
        Calls calls = with_bias(z, op, b.with_saved(op, first, gates * inner), z.s.t, gates * z.shared);
        calls.push_back(b.with_saved(op, activation(models::CpuKernel::kSwigluForward), inner));
        return append(std::move(calls), with_bias(z, op, last, z.s.t, z.s.h));
    }
    if (op.phase == Phase::kBackwardInput) {
        return {last, b.with_saved(op, activation(models::CpuKernel::kSwigluBackward), gates * inner), first};
    }
    const bool sliced = z.s.plan.sequence_parallel && z.s.tp > 1;
    const models::CpuCall of_first = with_cold_operands(z, op, first, !z.redone.norm && !sliced, z.s.t * z.s.h);
    return append(with_bias(z, op, b.with_saved(op, last, inner), z.s.t, z.s.h),
                  with_bias(z, op, of_first, z.s.t, gates * z.shared));
}

}  // namespace

bool expert_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls) {
    const ExpertBlock b(z);
    switch (op.kind) {
        case OpKind::kRouter: calls.before = router(z, op); return true;
        case OpKind::kRouterTopK: calls.before = router_top_k(z, op); return true;
        case OpKind::kTokenCommunication: token_communication(calls, b, op); return true;
        case OpKind::kTokenCounting:
            calls.before = op.comm == CommKind::kNone ? token_counting(b) : sequence_counting(b, op);
            return true;
        case OpKind::kIndexGeneration: calls.before = index_generation(b, op); return true;
        case OpKind::kExpertComputation: calls.before = expert_computation(b, op); return true;
        case OpKind::kOutputReduction: calls.before = output_reduction(b, op); return true;
        case OpKind::kTokenReturn: token_return(calls, b, op); return true;
        case OpKind::kSharedExpert: calls.before = shared_expert(b, op); return true;
        case OpKind::kSharedExpertSum:
            calls.before = {flat_call(models::CpuKernel::kAdd, (z.s.plan.etp == z.s.tp ? z.s.t : z.s.t_norm) * z.s.h)};
            return true;
        default: return false;
    }
}

}  // namespace auspex::schedule
