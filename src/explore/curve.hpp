#pragma once
/// @file The same job on other numbers of tiles.
#include <functional>
#include <string>

#include "explore/session.hpp"

namespace auspex::explore {

/// Weak scaling around the state's number of tiles, as `auspex scale` predicts it: {"points": [{"tiles", "step_time_s",
/// …}]}, sizes in rising order. `is_outdated` is asked before each size is played; {"outdated": true} once it says so.
[[nodiscard]] std::string curve_answer(Session& session, const State& state, const std::function<bool()>& is_outdated);

}  // namespace auspex::explore
