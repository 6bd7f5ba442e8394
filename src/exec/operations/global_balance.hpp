#pragma once
/// @file The auxiliary loss over the router logits of all MoE layers.
#include <span>

#include "exec/state/rank.hpp"

namespace auspex::exec {

/// MoE layers of the model before `layer` (counted from 0).
[[nodiscard]] int moe_layers_before(const models::Workload& workload, int layer);

/// Of each sequence N sum_e f_e P_e: f_e choices of expert e (they sum to top_k), P_e its probability, both means over
/// the sequence's tokens in all MoE layers. Probabilities and choices are those of the router's operations, by the same
/// kernels from the same logits; only P has a gradient.
/// `logits` [MoE layers, t, N]: of a micro-batch, the model's layers in order. Returns the sum over its sequences.
template <class P>
[[nodiscard]] double global_balance_sum(const Rank<P>& rank, int micro_batch,
                                        std::span<const typename P::Value> logits);
/// In place: logits become scale * the sum's gradients.
template <class P>
void global_balance_backward(const Rank<P>& rank, int micro_batch, double scale, std::span<typename P::Value> logits);

}  // namespace auspex::exec
