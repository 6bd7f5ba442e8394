/// @file Experts that every token visits: a dense feed-forward of their width beside the routed experts, whose sum over
/// tp is its own, too.
#include <utility>

#include "exec/kernels/elementwise.hpp"
#include "exec/kernels/gemm.hpp"
#include "exec/operations/expert_context.hpp"

namespace auspex::exec {
namespace {

template <class P>
bool has_biases(const ExpertContext<P>& on) {
    return on.slots.down_bias != LayerSlots::kNone;
}

template <class P>
void compute(ExpertContext<P>& on) {
    using V = typename P::Value;
    const RankShapes& s = on.s;
    auto& x = on.tensors;
    const std::size_t width = s.gates * s.shared_inner;
    x.gate_up = on.template kept<V>(s.t * width, &models::Recompute::shared_experts);
    x.product = on.template kept<V>(s.t * s.shared_inner, &models::Recompute::shared_experts);
    on.running.shared = on.template workspace<V>(s.t * s.h);
    linear_forward(s.t, width, s.h, on.shared_input(), weight_at(on.rank, on.slots.gate_up), x.gate_up.data());
    if (has_biases(on)) {
        add_bias(s.t, width, weight_at(on.rank, on.slots.gate_up_bias), x.gate_up.data());
    }
    const auto activate = s.gates == 2 ? swiglu_forward<V> : gelu_forward<V>;
    activate(s.t, s.shared_inner, std::as_const(x.gate_up).data(), x.product.data());
    linear_forward(s.t, s.h, s.shared_inner, x.product.data(), weight_at(on.rank, on.slots.down),
                   on.running.shared.data());
    if (has_biases(on) && on.rank.coordinates.tp == 0) {  // the sum over tp has it once
        add_bias(s.t, s.h, weight_at(on.rank, on.slots.down_bias), on.running.shared.data());
    }
    if (on.current.op.phase == schedule::Phase::kRecompute) {
        on.running.shared.reset();
    }
}

template <class P>
void input_gradient(ExpertContext<P>& on) {
    using V = typename P::Value;
    const RankShapes& s = on.s;
    Buffer<V>& d_gate_up = on.running.upstream;
    Buffer<V> d_product = on.template workspace<V>(s.t * s.shared_inner);
    d_gate_up = on.template workspace<V>(s.t * s.gates * s.shared_inner);
    on.running.shared = on.template workspace<V>(s.t * s.h);
    linear_input_gradient(s.t, s.h, s.shared_inner, on.shared_gradient(), weight_at(on.rank, on.slots.down),
                          d_product.data());
    const auto differentiate = s.gates == 2 ? swiglu_backward<V> : gelu_backward<V>;
    differentiate(s.t, s.shared_inner, std::as_const(on.tensors.gate_up).data(), std::as_const(d_product).data(),
                  d_gate_up.data());
    linear_input_gradient(s.t, s.gates * s.shared_inner, s.h, d_gate_up.data(), weight_at(on.rank, on.slots.gate_up),
                          on.running.shared.data());
}

template <class P>
void weight_gradients(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    const bool waited = on.current.has_waited();
    const auto* const d_output = waited ? std::as_const(on.tensors.d_last).data() : on.shared_gradient();
    const auto& d_gate_up = waited ? on.tensors.d_first : on.running.upstream;
    linear_weight_gradient(s.t, s.h, s.shared_inner, d_output, std::as_const(on.tensors.product).data(),
                           gradient_at(on.rank, on.slots.down));
    linear_weight_gradient(s.t, s.gates * s.shared_inner, s.h, d_gate_up.data(), on.shared_input(),
                           gradient_at(on.rank, on.slots.gate_up));
    if (has_biases(on)) {
        bias_gradient(s.t, s.h, d_output, gradient_at(on.rank, on.slots.down_bias));
        bias_gradient(s.t, s.gates * s.shared_inner, d_gate_up.data(), gradient_at(on.rank, on.slots.gate_up_bias));
    }
    if (waited) {
        on.running.saved.reset();
        on.tensors = {};
    } else {
        on.running.upstream.reset();
        on.running.shared_g.reset();
        if (!on.shared_apart()) {
            on.running.gathered_g.reset();
        }
    }
}

}  // namespace

template <class P>
void shared_expert(ExpertContext<P>& on) {
    if (on.forward()) {
        compute(on);
    } else if (on.current.op.phase == schedule::Phase::kBackwardInput) {
        input_gradient(on);
    } else {
        weight_gradients(on);
    }
}

template <class P>
void shared_expert_sum(ExpertContext<P>& on) {
    Buffer<typename P::Value>& x = on.running.x;
    add(x.size(), std::as_const(x).data(), std::as_const(on.running.shared).data(), x.data());
    on.running.shared.reset();
}

#define AUSPEX_INSTANTIATE(P)                       \
    template void shared_expert(ExpertContext<P>&); \
    template void shared_expert_sum(ExpertContext<P>&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
