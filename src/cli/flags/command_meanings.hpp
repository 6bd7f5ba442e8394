#pragma once
/// @file What flags of others mean to commands that read many of them differently.
#include <vector>

#include "cli/flags/options.hpp"

namespace auspex::cli {

[[nodiscard]] std::vector<FlagMeaning> calibrate_meanings();
[[nodiscard]] std::vector<FlagMeaning> compare_meanings();

}  // namespace auspex::cli
