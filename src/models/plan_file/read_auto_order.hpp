#pragma once
/// @file The key "zb_auto" of a plan.
#include "base/json_forward.hpp"
#include "models/plan.hpp"

namespace auspex::models {

/// Fills plan.auto_order. Requires plan.schedule. Throws InputError naming the key, the value and what is allowed.
void read_auto_order(const JsonValue& root, Plan& plan);

}  // namespace auspex::models
