/// @file The router: logits, choices, its losses, and their gradients; and which function an operation of the block is.
#include <algorithm>
#include <type_traits>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"
#include "exec/kernels/gemm.hpp"
#include "exec/kernels/routing.hpp"
#include "exec/operations/expert_context.hpp"
#include "exec/state/router_balance.hpp"

namespace auspex::exec {
namespace {

/// Number of a MoE layer, counted from the model's first.
template <class P>
int moe_layer_of(const ExpertContext<P>& on) {
    return on.current.op.layer - on.rank.workload().first_dense_layers;
}

/// This layer's part of the pass's buffer of router logits.
template <class P>
typename P::Value* travelling_logits(ExpertContext<P>& on) {
    const std::size_t size = on.s.t_routed * on.s.experts;
    return pass_of(on.rank, on.current).router_logits.data() + static_cast<std::size_t>(moe_layer_of(on)) * size;
}

/// Logits are rounded as a linear layer's output is: what travels for a global auxiliary loss is what choices were made
/// from.
template <class P>
void round_logits(ExpertContext<P>& on) {
    if constexpr (!std::is_same_v<typename P::Value, typename P::Real>) {
        record_call("round_logits", 1, on.x.logits.size());
        std::ranges::transform(on.x.logits.span(), on.x.logits.data(),
                               [](auto logit) { return real(stored<typename P::Value>(logit)); });
    }
}

template <class P>
void router(ExpertContext<P>& on) {
    using R = typename P::Real;
    const RankShapes& s = on.s;
    if (on.forward()) {
        on.x.logits = on.template kept<R>(s.t_routed * s.experts);
        linear_forward(s.t_routed, s.experts, s.h, on.input(), weight_at(on.rank, on.slots.router), on.x.logits.data());
        if (on.slots.router_bias != LayerSlots::kNone) {
            add_bias(s.t_routed, s.experts, weight_at(on.rank, on.slots.router_bias), on.x.logits.data());
        }
        round_logits(on);
    } else if (on.current.op.phase == schedule::Phase::kBackwardInput) {
        linear_input_gradient(s.t_routed, s.experts, s.h, on.x.d_logits.data(), weight_at(on.rank, on.slots.router),
                              on.running.x.data(), true);
    } else {
        linear_weight_gradient(s.t_routed, s.experts, s.h, on.x.d_logits.data(), on.input(),
                               gradient_at(on.rank, on.slots.router));
        if (on.slots.router_bias != LayerSlots::kNone) {
            bias_gradient(s.t_routed, s.experts, std::as_const(on.x.d_logits).data(),
                          gradient_at(on.rank, on.slots.router_bias));
        }
        on.x.d_logits.reset();
        on.running.saved.reset();
    }
}

template <class P>
void choose(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    AUSPEX_CHECK(on.rank.routing != nullptr, "a rank knows who chooses its experts");
    const RoutingSource& source = *on.rank.routing;
    const std::vector<std::int64_t> tokens = routed_tokens_of(on.rank, on.current.micro_batch);
    const int top_k = static_cast<int>(s.top_k);
    if (source.mode == RoutingMode::kLearned) {
        choose_experts(s.t_routed, s.experts, s.top_k, on.x.probabilities.data(), on.x.choices.data(),
                       router_bias_of(on.rank, on.current.op.layer));
    } else {
        forced_choices(source, on.rank.step, moe_layer_of(on), tokens, static_cast<int>(s.experts), top_k,
                       on.x.choices.span());
    }
    if (on.current.op.phase == schedule::Phase::kForward) {
        record_choices(source, on.rank.step, moe_layer_of(on), tokens, top_k, on.x.choices.span());
        if (float* const counts = router_counts_of(on.rank, on.current.op.layer)) {
            count_choices(on.x.choices.size(), s.experts, on.x.choices.data(), counts);
        }
    }
}

/// Ranks that split experts route the same tokens: the first one speaks for all. Of parts of sequences the balance
/// is known when all have counted.
template <class P>
void add_losses(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    const LossScales scales = loss_scales(on.rank);
    if (on.rank.workload().global_aux_loss) {
        record_call("logits_to_travel", 1, on.x.logits.size());
        std::ranges::transform(on.x.logits.span(), travelling_logits(on),
                               [](auto logit) { return stored<typename P::Value>(logit); });
    }
    if (on.rank.coordinates.etp != 0) {
        return;
    }
    on.rank.loss.z += scales.z * router_z_sum(s.t_routed, s.experts, on.x.logits.data());
    if (scales.balance != 0 && !s.splits_sequences) {
        on.rank.loss.auxiliary += scales.balance * balance_sum(s.t_routed / s.sequence, s.sequence, s.experts, s.top_k,
                                                               on.x.probabilities.data(), on.x.choices.data());
    }
}

template <class P>
void router_top_k(ExpertContext<P>& on) {
    using R = typename P::Real;
    const RankShapes& s = on.s;
    on.x.probabilities = on.template kept<R>(s.t_routed * s.experts);
    on.x.choices = on.template kept<std::int64_t>(s.t_routed * s.top_k);
    on.x.weights = on.template kept<R>(s.t_routed * s.top_k);
    router_softmax(s.t_routed, s.experts, on.x.logits.data(), on.x.probabilities.data());
    choose(on);
    choice_weights(s.t_routed, s.experts, s.top_k, on.rank.training().normalize_top_k, on.x.probabilities.data(),
                   on.x.choices.data(), on.x.weights.data());
    if (on.current.op.phase == schedule::Phase::kForward) {
        add_losses(on);
    }
    if (s.capacity > 0) {
        drop_choices(s.t_routed, s.experts, s.top_k, s.capacity, on.x.choices.data());
    }
}

/// Gradients of the logits through the choices' weights are parts on each rank that splits experts, which the sum over
/// them after the router completes; those of the losses are whole, and added on the first of these ranks only.
template <class P>
void router_top_k_backward(ExpertContext<P>& on) {
    using R = typename P::Real;
    const RankShapes& s = on.s;
    const LossScales scales = loss_scales(on.rank);
    const bool speaks = on.rank.coordinates.etp == 0;
    on.x.d_logits = on.template workspace<R>(s.t_routed * s.experts);
    R* const gradient = on.x.d_logits.data();
    std::ranges::fill(on.x.d_logits.span(), R{0});
    choice_weights_backward(s.t_routed, s.experts, s.top_k, on.rank.training().normalize_top_k,
                            on.x.probabilities.data(), on.x.choices.data(), on.x.d_weights.data(), gradient);
    if (speaks && scales.balance != 0 && s.splits_sequences) {
        balance_backward(part_of_sequences(on), std::as_const(on.x.sequence_counts).data(), scales.balance, gradient);
    } else if (speaks && scales.balance != 0) {
        balance_backward(s.t_routed / s.sequence, s.sequence, s.experts, s.top_k, on.x.choices.data(), scales.balance,
                         gradient);
    }
    router_softmax_backward(s.t_routed, s.experts, on.x.probabilities.data(), gradient, gradient);
    if (speaks) {
        router_z_backward(s.t_routed, s.experts, on.x.logits.data(), scales.z, gradient);
    }
    if (speaks && on.rank.workload().global_aux_loss) {
        const typename P::Value* const from_head = travelling_logits(on);
        record_call("add_gradients_of_head", 1, on.x.d_logits.size());
        for (std::size_t i = 0; i < on.x.d_logits.size(); ++i) {
            gradient[i] += real(from_head[i]);
        }
    }
    on.x.d_weights.reset();
}

}  // namespace

template <class P>
bool run_expert_operation(Rank<P>& rank, const CurrentOperation& current) {
    const auto run = [&](void (*operation)(ExpertContext<P>&)) {
        ExpertContext<P> on(rank, current);
        operation(on);
        return true;
    };
    switch (current.op.kind) {
        case schedule::OpKind::kRouter: return run(router<P>);
        case schedule::OpKind::kRouterTopK:
            return run(current.op.phase == schedule::Phase::kBackwardInput ? router_top_k_backward<P>
                                                                           : router_top_k<P>);
        case schedule::OpKind::kTokenCommunication: return run(token_communication<P>);
        case schedule::OpKind::kTokenCounting:
            return run(current.op.comm == schedule::CommKind::kNone ? token_counting<P> : sum_sequence_counts<P>);
        case schedule::OpKind::kIndexGeneration: return run(index_generation<P>);
        case schedule::OpKind::kExpertComputation: return run(expert_computation<P>);
        case schedule::OpKind::kOutputReduction: return run(output_reduction<P>);
        case schedule::OpKind::kTokenReturn: return run(token_return<P>);
        case schedule::OpKind::kSharedExpert: return run(shared_expert<P>);
        case schedule::OpKind::kSharedExpertSum: return run(shared_expert_sum<P>);
        default: return false;
    }
}

template bool run_expert_operation(Rank<Fp32>&, const CurrentOperation&);
template bool run_expert_operation(Rank<Fp64>&, const CurrentOperation&);
template bool run_expert_operation(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_expert_operation(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
