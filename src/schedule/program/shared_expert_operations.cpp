/// @file Shared experts, forward, backward and by themselves once more.
#include "schedule/program/shared_experts.hpp"

namespace auspex::schedule {
namespace {

double shared_width(const Shapes& s) {
    return static_cast<double>(s.workload.shared_experts) * s.workload.expert_size / s.tp;
}

/// Where routed ones are split the same way their sums over ranks are one and the
/// same; otherwise each has its own, and they meet behind them.
bool shared_apart(const Shapes& s) { return s.plan.etp != s.plan.tp; }

/// Recomputing shared experts alone gathers their input, where it is kept sliced and no routed expert of the rank has
/// it whole.
bool regathers_for_shared(const BlockBuilder& b) {
    const Shapes& s = b.shapes();
    return b.recompute().shared_experts && s.workload.shared_experts > 0 && s.plan.sequence_parallel && s.tp > 1 &&
           (s.all_to_all || s.by_node) && !shared_apart(s);
}

}  // namespace

Value shared_forward(BlockBuilder& b, Value input, Value entered) {
    const Shapes& s = b.shapes();
    if (s.workload.shared_experts == 0) {
        return kNoValue;
    }
    const double width = shared_width(s), gates = s.workload.gates();
    const Value x = shared_apart(s) ? gather_over_tp(b, input) : entered;
    const Value shared = b.compute(OpKind::kSharedExpert, {x},
                                   {linear_forward(s, s.t, gates * width, s.h),
                                    models::memory_kernel((gates + 1) * s.t * width * s.a, s.stack.kernels.activation),
                                    linear_forward(s, s.t, s.h, width)});
    return shared_apart(s) && b.phase() != Phase::kRecompute ? reduce_over_tp(b, shared) : shared;
}

Value leave_with_shared(BlockBuilder& b, Value x, Value shared) {
    const Shapes& s = b.shapes();
    const double tokens = shared_apart(s) ? s.t_norm : s.t;
    const auto add = [&] {
        return shared == kNoValue ? x
                                  : b.compute(OpKind::kSharedExpertSum, {x, shared},
                                              {models::memory_kernel(3 * tokens * s.h * s.a, 1)});
    };
    if (shared_apart(s)) {
        x = leave_experts(b, x);
        return add();
    }
    return leave_experts(b, add());
}

void recompute_shared_experts(BlockBuilder& b) {
    const Value input = kNoValue;
    shared_forward(b, input, regathers_for_shared(b) ? gather_over_tp(b, input) : input);
}

SharedGradient shared_backward(BlockBuilder& b, Value outer, Value entered) {
    const Shapes& s = b.shapes();
    const bool sharing = s.workload.shared_experts > 0, apart = shared_apart(s);
    SharedGradient result;
    // The rank's slice of the sequence, or of tokens that etp ranks gather, is all that is kept, unless the gathered
    // tokens hold the rest: these are gone when weights have waited.
    const bool is_sliced = s.plan.sequence_parallel && s.tp > 1;
    const bool is_gathered = is_sliced || s.plan.etp > s.tp;
    const bool for_shared = is_sliced && sharing && apart && !b.splits_backward();
    if (is_sliced && b.block() == BlockKind::kBackwardWeight && sharing) {
        b.set_phase(Phase::kBackwardWeight);
        result.saved =
            apart ? gather_over_tp(b, outer, Carries::kSavedInput) : enter_experts(b, outer, Carries::kSavedInput);
        b.set_phase(Phase::kBackwardInput);
    } else if (is_gathered && !b.recompute().expert && !regathers_for_shared(b) &&
               (s.all_to_all || s.by_node || for_shared)) {
        result.saved =
            for_shared ? gather_over_tp(b, outer, Carries::kSavedInput) : enter_experts(b, outer, Carries::kSavedInput);
    }
    if (!sharing) {
        return result;
    }
    const double width = shared_width(s), gates = s.workload.gates();
    const Value g = apart ? gather_over_tp(b, outer) : entered;
    result.sum = b.compute(OpKind::kSharedExpert, {g},
                           {linear_input_gradient(s, s.t, s.h, width),
                            models::memory_kernel((2 * gates + 1) * s.t * width * s.a, s.stack.kernels.activation),
                            linear_input_gradient(s, s.t, gates * width, s.h)});
    result.sum = apart ? reduce_over_tp(b, result.sum) : result.sum;
    b.set_phase(Phase::kBackwardWeight);
    std::vector<models::Kernel> kernels = linear_weight_gradient(s, s.t, s.h, width);
    const std::vector<models::Kernel> up = linear_weight_gradient(s, s.t, gates * width, s.h);
    kernels.insert(kernels.end(), up.begin(), up.end());
    b.compute(OpKind::kSharedExpert, {g, result.saved}, kernels);
    b.set_phase(Phase::kBackwardInput);
    return result;
}

}  // namespace auspex::schedule
