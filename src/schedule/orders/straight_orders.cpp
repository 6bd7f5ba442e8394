/// @file Orders of stages that lie on ranks one after another: gpipe, 1f1b, interleaved-1f1b, zb-h1, zb-h2.
#include <algorithm>

#include "schedule/orders/orders.hpp"

namespace auspex::schedule {
namespace {

PipelineOrder empty_order(int ranks, int stages, int micro_batches) {
    return {stages, micro_batches, std::vector<std::vector<StagePass>>(static_cast<std::size_t>(ranks))};
}

}  // namespace

PipelineOrder gpipe_order(int ranks, int micro_batches) {
    PipelineOrder order = empty_order(ranks, ranks, micro_batches);
    for (int rank = 0; rank < ranks; ++rank) {
        for (const PassKind kind : {PassKind::kForward, PassKind::kBackward}) {
            for (int i = 0; i < micro_batches; ++i) {
                order.ranks[static_cast<std::size_t>(rank)].push_back({kind, rank, i});
            }
        }
    }
    return order;
}

PipelineOrder one_f_one_b_order(int ranks, int micro_batches, int virtual_stages) {
    PipelineOrder order = empty_order(ranks, ranks * virtual_stages, micro_batches);
    const int passes = micro_batches * virtual_stages, group = ranks * virtual_stages;
    for (int rank = 0; rank < ranks; ++rank) {
        // Groups of `ranks` micro-batches walk stage after stage; backwards from the last stage.
        const auto pass = [&](PassKind kind, int i) {
            const int chunk = i % group / ranks;
            const int of_rank = kind == PassKind::kForward ? chunk : virtual_stages - 1 - chunk;
            return StagePass{kind, of_rank * ranks + rank, i / group * ranks + i % ranks};
        };
        const int behind = ranks - 1 - rank;
        const int warm_up = virtual_stages > 1 ? 2 * behind + (virtual_stages - 1) * ranks : behind;
        std::vector<StagePass>& list = order.ranks[static_cast<std::size_t>(rank)];
        int forward = 0;
        for (; forward < std::min(warm_up, passes); ++forward) {
            list.push_back(pass(PassKind::kForward, forward));
        }
        for (int backward = 0; backward < passes; ++backward) {
            if (forward < passes) {
                list.push_back(pass(PassKind::kForward, forward++));
            }
            list.push_back(pass(PassKind::kBackward, backward));
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
