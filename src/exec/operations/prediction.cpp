/// @file What a module of multi-token prediction reads: norms of the embedding
/// one token further on and of the state, side by side, and their projection to
/// one, which is the input of its layer.
#include <utility>

#include "exec/kernels/norm.hpp"
#include "exec/operations/sublayer.hpp"

namespace auspex::exec {
namespace {

template <class P>
struct Prediction {
    using V = typename P::Value;
    Rank<P>& rank;
    const CurrentOperation& current;
    PassTensors<P>& pass;
    PredictionTensors<P>& own;
    const LayerSlots& slots;
    const RankShapes& s;
    RunningValues<P>& running;

    Prediction(Rank<P>& on, const CurrentOperation& operation)
        : rank(on),
          current(operation),
          pass(pass_of(on, operation)),
          own(prediction_of(on, operation)),
          slots(slots_of(on, operation)),
          s(on.shapes),
          running(on.running) {}

    [[nodiscard]] std::size_t pair() const { return 2 * s.h; }
    /// What the module before has made, or the model's last layer.
    [[nodiscard]] const Buffer<V>& state() const {
        return pass.heads[static_cast<std::size_t>(current.op.layer - rank.workload().layers)].input;
    }
    [[nodiscard]] Buffer<V> workspace(std::size_t width) const {
        return {*rank.arena, schedule::MemoryLabel::kWorkspace, s.t_slice * width};
    }

    void normalise() {
        const models::NormKind kind = rank.workload().norm;
        const double epsilon = rank.training().norm_epsilon;
        own.normed =
            Buffer<V>(*rank.arena, label_of(current.op.phase, !redone_of(rank, current).norm), s.t_slice * pair());
        norm_forward(kind, s.t_slice, s.h, epsilon, std::as_const(own.embedding).data(),
                     weight_at(rank, slots.embedding_norm), own.normed.data(), pair());
        norm_forward(kind, s.t_slice, s.h, epsilon, state().data(), weight_at(rank, slots.state_norm),
                     own.normed.data() + s.h, pair());
    }

    void forward() {
        normalise();
        if (current.op.phase == schedule::Phase::kRecompute) {
            return;
        }
        Buffer<V>& input = attention_of(rank, current).input;
        input = Buffer<V>(*rank.arena, schedule::MemoryLabel::kActivations, s.t_slice * s.h);
        linear_forward(s.t_slice, s.h, pair(), std::as_const(own.normed).data(), weight_at(rank, slots.projection),
                       input.data());
        if (slots.projection_bias != LayerSlots::kNone) {
            add_bias(s.t_slice, s.h, weight_at(rank, slots.projection_bias), input.data());
        }
        if (redone_of(rank, current).norm) {
            own.normed.reset();
        }
        ++running.head;
    }

    void input_gradient() {
        const models::NormKind kind = rank.workload().norm;
        const double epsilon = rank.training().norm_epsilon;
        Buffer<V> gradient = workspace(pair());
        linear_input_gradient(s.t_slice, s.h, pair(), std::as_const(running.g).data(),
                              weight_at(rank, slots.projection), gradient.data());
        own.d_projected = std::move(running.g);
        running.g = workspace(s.h), running.d_embedding = workspace(s.h);
        norm_backward(kind, s.t_slice, s.h, epsilon, state().data(), weight_at(rank, slots.state_norm),
                      std::as_const(gradient).data() + s.h, running.g.data(), gradient_at(rank, slots.state_norm),
                      pair());
        norm_backward(kind, s.t_slice, s.h, epsilon, std::as_const(own.embedding).data(),
                      weight_at(rank, slots.embedding_norm), std::as_const(gradient).data(), running.d_embedding.data(),
                      gradient_at(rank, slots.embedding_norm), pair());
        own.embedding.reset();
        --running.head;
    }

    void weight_gradient() {
        linear_weight_gradient(s.t_slice, s.h, pair(), std::as_const(own.d_projected).data(),
                               std::as_const(own.normed).data(), gradient_at(rank, slots.projection));
        if (slots.projection_bias != LayerSlots::kNone) {
            bias_gradient(s.t_slice, s.h, std::as_const(own.d_projected).data(),
                          gradient_at(rank, slots.projection_bias));
        }
        own.d_projected.reset(), own.normed.reset();
    }
};

}  // namespace

template <class P>
bool run_prediction_operation(Rank<P>& rank, const CurrentOperation& current) {
    if (current.op.kind != schedule::OpKind::kPredictionInput) {
        return false;
    }
    Prediction<P> on(rank, current);
    if (current.forward()) {
        on.forward();
    } else if (current.op.phase == schedule::Phase::kBackwardInput) {
        on.input_gradient();
    } else {
        on.weight_gradient();
    }
    return true;
}

template bool run_prediction_operation(Rank<Fp32>&, const CurrentOperation&);
template bool run_prediction_operation(Rank<Fp64>&, const CurrentOperation&);
template bool run_prediction_operation(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_prediction_operation(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
