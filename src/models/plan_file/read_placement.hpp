#pragma once
/// @file Where a plan's ranks are put, from its file.
#include "models/plan.hpp"

namespace auspex::models {

/// The keys placement, placement_seed and placement_free of a plan file. Throws InputError.
void read_placement(const JsonValue& root, Plan& plan);

}  // namespace auspex::models
