#pragma once
/// @file Steps small enough to be written rank by rank: shipped, with communication beside compute, and random.
#include <vector>

#include "../../sim/step_fixture.hpp"

namespace auspex::testing_chakra {

inline models::Inputs overlapped_inputs() {
    models::Inputs inputs = testing_steps::shipped_inputs("toy-pp2-ep2", "toy-moe");
    inputs.stack = testing_plans::overlapping_stack("optimus");
    inputs.plan.overlap_ep = inputs.plan.overlap_dp = inputs.plan.overlap_pp = true;
    return inputs;
}

/// Gradients summed tensor by tensor: one operation is many communications.
inline models::Inputs summed_inputs() {
    models::Inputs inputs = testing_steps::shipped_inputs("toy-pp2-ep2", "toy-moe");
    inputs.plan.optimizer = models::OptimizerSharding::kSharded;
    return inputs;
}

inline std::vector<models::Inputs> random_cases(std::size_t count) {
    constexpr int kMostTiles = 16, kMostLayers = 8;
    std::vector<models::Inputs> found;
    for (std::uint64_t seed = 1; found.size() < count; ++seed) {
        models::Inputs inputs = testing_steps::random_inputs(seed, seed % 2 == 0);
        inputs.plan.context =
            models::ContextParallel::kAllGather;  // a trace has no word for shifts, nor for rows by node
        if (inputs.plan.dispatch == models::Dispatch::kHierarchical) {
            inputs.plan.dispatch = models::Dispatch::kAllToAll;
        }
        const int tiles = inputs.plan.pp * inputs.plan.dp * inputs.plan.ep * inputs.plan.etp;
        if (tiles <= kMostTiles && inputs.workload.layers <= kMostLayers) {
            found.push_back(std::move(inputs));
        }
    }
    return found;
}

inline std::vector<models::Inputs> cases() {
    using testing_steps::shipped_inputs;
    std::vector<models::Inputs> all{shipped_inputs("toy-pp2-ep2", "toy-moe"),
                                    shipped_inputs("toy-interleaved", "toy-dense"),
                                    shipped_inputs("toy-dp4", "toy-dense"),
                                    shipped_inputs("toy-tp2-dp2", "toy-dense"),
                                    overlapped_inputs(),
                                    summed_inputs()};
    for (models::Inputs& inputs : random_cases(8)) {
        all.push_back(std::move(inputs));
    }
    return all;
}

}  // namespace auspex::testing_chakra
