#pragma once
/// @file Steps by rank and folded, of shipped inputs with nothing random in them.
#include <string>

#include "../step_fixture.hpp"
#include "sim/predict/predict.hpp"
#include "sim/predict/unfolded.hpp"

namespace auspex::testing_unfolded {

using testing_steps::plain_options;
using testing_steps::shipped_inputs;

/// Equal tiles, no noise, no other jobs.
inline void make_quiet(models::Inputs& inputs) {
    inputs.machine.noise = {};
    inputs.machine.tile.speed_sigma = 0;
    inputs.machine.fabric.background_load = 0;
}

inline models::Inputs quiet_inputs(const std::string& name, const std::string& stack = "optimus") {
    models::Inputs inputs = shipped_inputs(name, name, stack);
    make_quiet(inputs);
    inputs.plan.dp = 0;
    return inputs;
}

inline predict::SimulatedStep folded(const models::Inputs& inputs, int tiles) {
    return predict::simulate_step(inputs, plain_options(tiles), false);
}

inline predict::UnfoldedSteps unfolded(const models::Inputs& inputs, int tiles,
                                       const predict::UnfoldedOptions& options = {}) {
    return play_unfolded(inputs, folded(inputs, tiles), options);
}

inline double mean_step_s(const predict::UnfoldedSteps& steps) {
    double sum_s = 0;
    for (const predict::UnfoldedSample& sample : steps.samples) {
        sum_s += to_seconds(sample.step);
    }
    return sum_s / static_cast<double>(steps.samples.size());
}

}  // namespace auspex::testing_unfolded
