#pragma once
/// @file Where a number of "training" comes from, for a comment.
#include <string>

#include "models/training.hpp"

namespace auspex::interop {

/// "workload.training.KEY", or that the number is a default because the workload does not say it.
[[nodiscard]] std::string training_source(const models::Training& training, const std::string& key);

}  // namespace auspex::interop
