/// @file Notes, and FLOP of what is computed.
#include "sim/predict/routing_effects.hpp"

#include <algorithm>

#include "base/number_text.hpp"

namespace auspex::predict {

models::TokenFlop computed_flop(const models::Workload& workload, const models::RoutingLoad& load) {
    models::TokenFlop flop = count_token_flop(workload);
    if (workload.capacity_factor > 0) {
        flop.experts *= (1 - load.dropped) / std::min(1.0, workload.capacity_factor);
    }
    return flop;
}

void add_routing_notes(std::vector<std::string>& notes, const models::Workload& workload, const models::Plan& plan,
                       const models::RoutingLoad& load) {
    if (load.heaviest_rank > 1) {
        notes.push_back("skewed routing: the busiest expert-parallel rank gets " + fixed(load.heaviest_rank, 2) +
                        " times the mean" +
                        (load.layers.empty() ? ", the same rank in all layers"
                                             : ", the mean over the layers, in each another rank"));
    }
    if (load.dropped > 0) {
        notes.push_back("experts have room for " + fixed(workload.capacity_factor, 2) +
                        " times the rows of even routing: " + fixed(100 * load.dropped, 1) +
                        " % of the routed rows are dropped, and not counted as model FLOP");
    }
    if (plan.routing.kind == models::RoutingDistribution::kLearned && workload.num_experts > 0) {
        notes.emplace_back("learned routing is taken as even: time and memory of uneven routing need a recorded trace");
    }
}

}  // namespace auspex::predict
