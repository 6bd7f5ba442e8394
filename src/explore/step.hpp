#pragma once
/// @file A step as the page shows it.
#include <string>

#include "explore/session.hpp"

namespace auspex::explore {

/// Throws InputError for a step of more layer passes than a page can follow. Of `tiles`; 0: what the plan's dp gives.
void require_playable(const models::Inputs& inputs, int tiles);

/// {"command", "step": {…}, "run": … (whole_run.hpp), "timeline": {…} as timeline.js takes it}: the numbers of `auspex
/// predict --no-sensitivity`.
[[nodiscard]] std::string step_answer(Session& session, const State& state);

}  // namespace auspex::explore
