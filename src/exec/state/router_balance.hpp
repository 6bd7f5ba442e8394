#pragma once
/// @file Biases of routers that no gradient trains (arXiv:2408.15664): where they are, and how counts move them.
#include <span>

#include "exec/state/tensor_slices.hpp"

namespace auspex::exec {

/// Biases and counts of the rank's routers, zero; empty where the model has no such biases.
template <class P>
[[nodiscard]] RouterBalance make_router_balance(const Rank<P>& rank);

/// Of a layer's router [N]: its biases; null where it has none.
template <class P>
[[nodiscard]] const float* router_bias_of(const Rank<P>& rank, int layer);
/// Likewise the choices of the step that fell on each expert: of this rank's tokens, when they are summed of all.
template <class P>
[[nodiscard]] float* router_counts_of(Rank<P>& rank, int layer);

/// Of each router b_e += speed * sign(mean of the counts - count of e); counts begin at zero again.
template <class P>
void update_router_bias(Rank<P>& rank);

/// Biases as tensors, all whole on every rank of a stage; `owned`: those that the rank writes.
template <class P>
[[nodiscard]] std::vector<TensorPart> balance_parts(const Rank<P>& rank, bool owned);

}  // namespace auspex::exec
