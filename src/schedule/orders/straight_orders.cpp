/// @file Orders of stages that lie on ranks one after another: those that plans have, zb-h1 and zb-h2.
#include "schedule/orders/orders.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {

PipelineOrder order_of_plan(const models::Plan& plan) {
    PipelineOrder order = empty_order(plan.pp, plan.pp * plan.virtual_stages, plan.micro_batches);
    for (int rank = 0; rank < plan.pp; ++rank) {
        for (const Pass& pass : pipeline_order(plan, rank)) {
            order.ranks[static_cast<std::size_t>(rank)].push_back(
                {pass.backward ? PassKind::kBackward : PassKind::kForward, virtual_stage_of(plan, pass.chunk, rank),
                 pass.micro_batch});
        }
    }
    return order;
}

PipelineOrder zero_bubble_order(int ranks, int micro_batches, int lag) {
    PipelineOrder order = empty_order(ranks, ranks, micro_batches);
    for (int rank = 0; rank < ranks; ++rank) {
        std::vector<StagePass>& list = order.ranks[static_cast<std::size_t>(rank)];
        int forward = 0, weight = 0;
        const auto add_forward = [&] {
            if (forward < micro_batches) {
                list.push_back({PassKind::kForward, rank, forward++});
            }
        };
        // H1's last forward pass of the warm-up stands in front of its first backward pass, as 1F1B has it.
        const int warm_up = lag == 1 ? ranks - 1 - rank : 2 * (ranks - rank) - 1;
        for (int i = 0; i < warm_up; ++i) {
            add_forward();
        }
        for (int i = 0; i < micro_batches; ++i) {
            if (lag == 1) {
                add_forward();
            }
            list.push_back({PassKind::kBackwardInput, rank, i});
            if (i >= lag * rank) {
                list.push_back({PassKind::kBackwardWeight, rank, weight++});
            }
            if (lag != 1) {
                add_forward();
            }
        }
        while (weight < micro_batches) {
            list.push_back({PassKind::kBackwardWeight, rank, weight++});
        }
    }
    return order;
}

}  // namespace auspex::schedule
