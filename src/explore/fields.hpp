#pragma once
/// @file What a page may choose and change, with the files' own values and where they come from.
#include <string>

#include "explore/session.hpp"

namespace auspex::explore {

/// The schema of plan files (schemas/plan.schema.json), from which their fields, ranges and words are taken.
extern const char* const kPlanSchema;

/// {"names": {role: […]}, "constants": […], "numbers": […], "plan": […]} of the files that the state names, read again
/// and without its overrides. docs/explore.md has the keys. Throws InputError.
[[nodiscard]] std::string fields_answer(Session& session, const State& state);

}  // namespace auspex::explore
