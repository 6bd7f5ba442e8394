#pragma once
/// @file What other operations need of the model's two ends.
#include "exec/kernels/cross_entropy.hpp"
#include "exec/operations/global_balance.hpp"
#include "exec/state/rank.hpp"
#include "schedule/memory/router_logits.hpp"

namespace auspex::exec {

/// What a head's sum of cross entropies is multiplied by: of the model's own, or of the prediction modules', whose mean
/// has a coefficient.
template <class P>
[[nodiscard]] double cross_entropy_scale(const Rank<P>& rank) {
    const double of_head = rank.running.head == 0 ? 1 : rank.training().prediction_loss / rank.workload().mtp_layers;
    return of_head / rank.tokens_of_batch();
}

/// Adds the micro-batch's cross entropy to the rank's loss, from numbers that all tp ranks have brought; tp index 0
/// speaks for its group. That of a prediction module is an auxiliary loss.
template <class P>
void add_cross_entropy(Rank<P>& rank, const HeadTensors<P>& head) {
    if (rank.coordinates.tp == 0) {
        (rank.running.head == 0 ? rank.loss.cross_entropy : rank.loss.auxiliary) +=
            cross_entropy_sum(rank.shapes.t, head.parts.data()) * cross_entropy_scale(rank);
    }
}

/// A buffer for router logits of the model's MoE layers up to the virtual stage's last, or that of the next stage if it
/// is handed over to it on the same rank; or for their gradients. Empty without a global auxiliary loss.
template <class P>
[[nodiscard]] Buffer<typename P::Value> make_router_logits(const Rank<P>& rank, int virtual_stage) {
    const models::Workload& workload = rank.workload();
    if (!workload.global_aux_loss) {
        return {};
    }
    const int end = schedule::router_logits_end(workload, rank.plan(), virtual_stage);
    const auto layers = static_cast<std::size_t>(moe_layers_before(workload, end));
    return {*rank.arena, schedule::MemoryLabel::kRouterLogits, layers * rank.shapes.t * rank.shapes.experts};
}

}  // namespace auspex::exec
