#pragma once
/// @file What other operations need of the model's two ends.
#include "exec/kernels/cross_entropy.hpp"
#include "exec/operations/global_balance.hpp"
#include "exec/state/rank.hpp"

namespace auspex::exec {

/// Adds the micro-batch's cross entropy to the rank's loss, from numbers that all tp ranks have brought; tp index 0
/// speaks for its group.
template <class P>
void add_cross_entropy(Rank<P>& rank, const HeadTensors<P>& head) {
    if (rank.coordinates.tp == 0) {
        rank.loss.cross_entropy += cross_entropy_sum(rank.shapes.t, head.parts.data()) / rank.tokens_of_batch();
    }
}

/// A buffer for router logits of the model's MoE layers before `last`, or for their gradients; empty without a global
/// auxiliary loss.
template <class P>
[[nodiscard]] Buffer<typename P::Value> make_router_logits(const Rank<P>& rank, int last) {
    const models::Workload& workload = rank.workload();
    if (!workload.global_aux_loss) {
        return {};
    }
    const auto layers = static_cast<std::size_t>(moe_layers_before(workload, last));
    return {*rank.arena, schedule::MemoryLabel::kRouterLogits, layers * rank.shapes.t * rank.shapes.experts};
}

}  // namespace auspex::exec
