/// @file The two ends of the model, and prediction modules between them (DeepSeek-V3, arXiv:2412.19437, section 2.2).
///
/// A module takes the state h of every token and the embedding e of the token one further on, and makes
/// M [norm(h); norm(e)] with a projection M of 2 H to H; a layer, a final norm and the shared LM head follow. Every tp
/// rank holds M whole: with sequence parallelism each projects its own slice, else all project all tokens.
#include "schedule/program/block_builder.hpp"

namespace auspex::schedule {
namespace {

/// Of `tensors` tensors of the residual stream.
models::Kernel norm_kernel(const Shapes& s, double tensors_moved, double tensors) {
    const double passes = norm_count(s, s.stack.kernels.norm);
    return models::memory_kernel(tensors_moved * tensors * s.t_norm * s.h * s.a * passes, tensors * passes);
}

/// State and embedding normalised, and put side by side.
std::vector<models::Kernel> normed_pair(const Shapes& s) {
    constexpr double kTensors = 2;
    return {norm_kernel(s, 2, kTensors), models::memory_kernel(2 * kTensors * s.t_norm * s.h * s.a, 1)};
}

/// Ranks of a tp group that project the same tokens.
double projection_copies(const Shapes& s) { return s.plan.sequence_parallel ? 1 : s.tp; }

models::Kernel cross_entropy_kernel(const Shapes& s) {
    const double passes = s.stack.kernels.cross_entropy;
    return models::memory_kernel(passes * 2 * s.t * (s.workload.vocab_size / s.tp) * 4, passes);
}

}  // namespace

Value embed(BlockBuilder& b) {
    const Shapes& s = b.shapes();
    if (s.workload.image.is_given()) {
        return reduce_over_tp(b, b.compute(OpKind::kEmbedding, {},
                                           {linear_forward(s, s.t, s.h, s.workload.image.input_channels / s.tp)}));
    }
    const Value x =
        b.compute(OpKind::kEmbedding, {}, {models::memory_kernel(2 * s.t_norm * s.h * s.a, s.stack.kernels.embedding)});
    return reduce_over_tp(b, x);
}

void embedding_backward(BlockBuilder& b, Value g) {
    const Shapes& s = b.shapes();
    if (s.workload.image.is_given()) {
        b.compute(OpKind::kEmbedding, {g}, linear_weight_gradient(s, s.t, s.h, s.workload.image.input_channels / s.tp));
        return;
    }
    const double table = static_cast<double>(s.workload.vocab_size) * s.h / s.tp * s.plan.gradient_bytes;
    b.compute(OpKind::kEmbedding, {g},
              {models::memory_kernel(2 * s.t_norm * s.h * s.a + 3 * table * s.stack.kernels.gradient_accumulation,
                                     1.0 + s.stack.kernels.gradient_accumulation)});
}

Value head_forward(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const double vocabulary = s.workload.vocab_size / s.tp;
    x = b.compute(OpKind::kFinalNorm, {x}, {norm_kernel(s, 2, 1)});
    if (s.plan.sequence_parallel) {
        x = b.communicate(OpKind::kTpAllGather, Stream::kTp, CommKind::kAllGather, models::GroupKind::kTp, s.plan.tp,
                          {{s.t * s.h}}, {x});
    }
    x = b.compute(OpKind::kLmHead, {x}, {linear_forward(s, s.t, vocabulary, s.h)});
    x = b.compute(OpKind::kCrossEntropy, {x}, {cross_entropy_kernel(s)});
    return b.communicate(OpKind::kTpAllReduce, Stream::kTp, CommKind::kAllReduce, models::GroupKind::kTp, s.plan.tp,
                         {{3 * s.t, ElementType::kFp32, 3}}, {x}, {.carries = Carries::kSoftmaxParts});
}

Value head_backward(BlockBuilder& b, Value further) {
    const Shapes& s = b.shapes();
    const double vocabulary = s.workload.vocab_size / s.tp;
    const Value g = b.compute(OpKind::kCrossEntropy, {}, {cross_entropy_kernel(s)});
    Value x = b.compute(OpKind::kLmHead, {g}, {linear_input_gradient(s, s.t, vocabulary, s.h)});
    x = reduce_over_tp(b, x);
    b.set_phase(Phase::kBackwardWeight);
    b.compute(OpKind::kLmHead, {g}, linear_weight_gradient(s, s.t, vocabulary, s.h));
    b.set_phase(Phase::kBackwardInput);
    if (further == kNoValue) {
        return b.compute(OpKind::kFinalNorm, {x}, {norm_kernel(s, 3, 1)});
    }
    return b.compute(OpKind::kFinalNorm, {x, further},
                     {norm_kernel(s, 3, 1), models::memory_kernel(3 * s.t_norm * s.h * s.a, 1)});
}

Value prediction_forward(BlockBuilder& b, Value state) {
    const Shapes& s = b.shapes();
    const Value further = embed(b);
    std::vector<models::Kernel> kernels = normed_pair(s);
    kernels.push_back(linear_forward(s, s.t_norm, s.h, 2 * s.h, projection_copies(s)));
    return b.compute(OpKind::kPredictionInput, {state, further}, kernels);
}

Value prediction_backward(BlockBuilder& b, Value gradient) {
    const Shapes& s = b.shapes();
    b.set_phase(Phase::kBackwardInput);
    if (b.recompute().norm) {
        b.set_phase(Phase::kRecompute);
        b.compute(OpKind::kPredictionInput, {}, normed_pair(s));
        b.set_phase(Phase::kBackwardInput);
    }
    const double copies = projection_copies(s);
    const Value state = b.compute(OpKind::kPredictionInput, {gradient},
                                  {linear_input_gradient(s, s.t_norm, s.h, 2 * s.h, copies), norm_kernel(s, 3, 2)});
    b.set_phase(Phase::kBackwardWeight);
    b.compute(OpKind::kPredictionInput, {gradient}, linear_weight_gradient(s, s.t_norm, s.h, 2 * s.h, 1, copies));
    b.set_phase(Phase::kBackwardInput);
    Value embedding = state;
    if (s.plan.sequence_parallel) {
        embedding = b.communicate(OpKind::kTpAllGather, Stream::kTp, CommKind::kAllGather, models::GroupKind::kTp,
                                  s.plan.tp, {{s.t * s.h}}, {state});
    }
    b.set_phase(Phase::kBackwardWeight);
    embedding_backward(b, embedding);
    b.set_phase(Phase::kBackwardInput);
    return state;
}

}  // namespace auspex::schedule
