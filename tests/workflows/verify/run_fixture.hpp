#pragma once
/// @file Training runs made up by hand.
#include <span>

#include "launch/train/train_result.hpp"

namespace auspex::workflows {

/// A run that ended well, with these losses.
inline launch::TrainResult run_with_losses(std::span<const double> losses, int first_step = 0) {
    launch::TrainResult run;
    run.first_step = first_step;
    for (const double loss : losses) {
        exec::StepReport& step = run.steps.emplace_back();
        step.step = first_step + static_cast<int>(run.steps.size()) - 1;
        step.loss = loss;
    }
    return run;
}

}  // namespace auspex::workflows
