/// @file Lengths of passes by FLOP.
#include "models/pipeline/auto_order.hpp"

#include "models/workload.hpp"

namespace auspex::models {

AutoOrder resolved(const AutoOrder& order, const Workload& workload, int pp) {
    AutoOrder found = order;
    if (found.forward == 0) {
        const TokenFlop flop = count_token_flop(workload);
        found.forward = flop.forward();
        found.weight = flop.forward() - flop.attention_scores - flop.router - flop.lm_head;
        found.input = 2 * found.forward - found.weight;
    }
    if (found.in_flight == 0) {
        found.in_flight = 2 * pp;
    }
    return found;
}

}  // namespace auspex::models
