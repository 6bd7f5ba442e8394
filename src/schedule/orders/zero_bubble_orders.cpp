/// @file Orders of stages that lie on ranks one after another, with weight gradients apart: zb-h1 and zb-h2.
#include "schedule/orders/orders.hpp"

namespace auspex::schedule {

std::vector<StagePass> zero_bubble_passes(int rank, int ranks, int micro_batches, int lag) {
    std::vector<StagePass> list;
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
    return list;
}

}  // namespace auspex::schedule
