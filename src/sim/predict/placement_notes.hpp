#pragma once
/// @file What a reader should know of where a job's ranks lie.
#include <string>
#include <vector>

#include "models/layout.hpp"

namespace auspex::predict {

/// A sentence for each: a last node that is partly empty, and tp and ep groups of the first stage that are small enough
/// for one node and lie on two.
[[nodiscard]] std::vector<std::string> placement_notes(const models::Layout& layout);

}  // namespace auspex::predict
