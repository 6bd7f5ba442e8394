#pragma once
/// @file When a whole run of the step is over.
#include <string>

#include "explore/session.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::explore {

/// JSON: of state.tokens, by the closed form (campaign/finish/expected_finish.hpp) at its own best interval between
/// checkpoints, with the command that plays it; null without tokens, and on a computer of CPU cores. Times that are
/// infinite are null. Throws InputError for more than 1e9 steps.
[[nodiscard]] std::string whole_run_json(const models::Inputs& inputs, const State& state,
                                         const predict::Prediction& prediction);

/// The command that plays it. Requires tokens.
[[nodiscard]] std::string campaign_command_of(const State& state);

}  // namespace auspex::explore
