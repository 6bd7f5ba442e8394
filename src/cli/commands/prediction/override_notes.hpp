#pragma once
/// @file What --set has done, where it is less or more than it seems.
#include <string>
#include <vector>

#include "cli/flags/options.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::cli {

/// Of a job without --tiles: how many tiles it has, where overrides of the plan make that another number than the
/// file's, and which --tiles keeps it. Unless --no-sensitivity is given: of every --set without which the predicted
/// step and its memory are the same, that they are, and what the step is bound by. Plays the folded lens once for each.
[[nodiscard]] std::vector<std::string> override_notes(const Options& options, const predict::Prediction& prediction);

}  // namespace auspex::cli
