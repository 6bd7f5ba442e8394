#pragma once
/// @file What a reader should know that only another play of the step tells.
#include <string>
#include <vector>

#include "models/inputs.hpp"
#include "sim/predict/options.hpp"

namespace auspex::predict {

/// Of the folded lens: overlaps of the plan without which the step is the same; its other choices that are not the
/// default, where step and memory are the same with that; and what the step would be by a node's
/// own links, where the stack's node_paths send groups another way and that makes a hundredth of it or more. Throws
/// what simulate_step throws.
[[nodiscard]] std::vector<std::string> what_if_notes(const models::Inputs& inputs, PredictOptions options);

}  // namespace auspex::predict
