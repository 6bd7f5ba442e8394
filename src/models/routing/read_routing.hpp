#pragma once
/// @file Reads the key "routing" of a plan, and the trace that it names.
#include "base/json_forward.hpp"
#include "models/plan.hpp"

namespace auspex::models {

/// Of the plan file's root. Leaves plan.routing as it is where there is no such key.
void read_routing(const JsonValue& root, Plan& plan);

}  // namespace auspex::models
