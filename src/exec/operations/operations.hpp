#pragma once
/// @file The kernels and calls that operations are bound to, by the part of the model that they belong to. Each
/// function runs one operation whole, and returns false if it is none of its own.
#include "exec/state/rank.hpp"

namespace auspex::exec {

// context_attention.cpp: kKeyValueGather, kKeyValueRing, kTokensToHeads, kAttentionOfOthers, kHeadsToTokens; with cp >
// 1 also kAttention, so that it is to be asked first.
template <class P>
[[nodiscard]] bool run_context_operation(Rank<P>& rank, const CurrentOperation& current);
// latent_attention.cpp: kQueryDown, kKeyValueDown, kQueryUp, kKeyValueUp; of models with latent attention also kQkNorm,
// kRotaryEmbedding and kAttention, so that it is to be asked first.
template <class P>
[[nodiscard]] bool run_latent_operation(Rank<P>& rank, const CurrentOperation& current);
// attention_operations.cpp: kAttentionNorm, kQkvProjection, kQkNormSums, kQkNorm, kRotaryEmbedding, kAttention,
// kAttentionOutput.
template <class P>
[[nodiscard]] bool run_attention_operation(Rank<P>& rank, const CurrentOperation& current);
// dense_operations.cpp: kFeedForwardNorm, kGateUpProjection, kActivation, kDownProjection, kResidualAdd (both
// sublayers).
template <class P>
[[nodiscard]] bool run_feed_forward_operation(Rank<P>& rank, const CurrentOperation& current);
// expert_operations.cpp: kRouter, kRouterTopK, kTokenCommunication, kTokenCounting, kIndexGeneration,
// kExpertComputation, kOutputReduction, kTokenReturn, kSharedExpert, kSharedExpertSum.
template <class P>
[[nodiscard]] bool run_expert_operation(Rank<P>& rank, const CurrentOperation& current);
// head_operations.cpp: kEmbedding, kFinalNorm, kLmHead, kCrossEntropy.
template <class P>
[[nodiscard]] bool run_head_operation(Rank<P>& rank, const CurrentOperation& current);
// prediction.cpp: kPredictionInput.
template <class P>
[[nodiscard]] bool run_prediction_operation(Rank<P>& rank, const CurrentOperation& current);
// tp_operations.cpp: kTpAllReduce, kTpReduceScatter, kTpAllGather.
template <class P>
[[nodiscard]] bool run_tp_operation(Rank<P>& rank, const CurrentOperation& current);
// pipeline_messages.cpp: kSendForward, kReceiveForward, kSendBackward, kReceiveBackward.
template <class P>
[[nodiscard]] bool run_message(Rank<P>& rank, const CurrentOperation& current);
// host_copies.cpp: kActivationsToHost, kActivationsFromHost, kHostCopyWait.
template <class P>
[[nodiscard]] bool run_host_copy(Rank<P>& rank, const CurrentOperation& current);
// step_operations.cpp: kGradientCheck, kTiedEmbeddingAllReduce, kMirrorGradientExchange, kMirrorParameterExchange,
// kGradientTpAllReduce, kGradientEpAllReduce, kGradientReduceExperts, kGradientReduceDense, kGradientNorm,
// kGradientNormAllReduce, kOptimizerUpdate, kParameterGatherExperts, kParameterGatherDense, kRouterBiasUpdate,
// kWorldAllReduce, kHostSync, kBarrier, kStepHost.
template <class P>
[[nodiscard]] bool run_step_operation(Rank<P>& rank, const CurrentOperation& current);

/// Label of a tensor that a forward pass keeps (`kept`) or its recomputation makes again.
[[nodiscard]] inline schedule::MemoryLabel label_of(schedule::Phase phase, bool kept) {
    return phase == schedule::Phase::kForward && kept ? schedule::MemoryLabel::kActivations
                                                      : schedule::MemoryLabel::kWorkspace;
}
template <class V>
[[nodiscard]] ElementType element_type();

template <>
[[nodiscard]] inline ElementType element_type<Bf16>() {
    return ElementType::kBf16;
}
template <>
[[nodiscard]] inline ElementType element_type<float>() {
    return ElementType::kFloat;
}
template <>
[[nodiscard]] inline ElementType element_type<double>() {
    return ElementType::kDouble;
}

}  // namespace auspex::exec
