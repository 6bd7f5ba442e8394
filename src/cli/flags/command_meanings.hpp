#pragma once
/// @file What flags of others mean to commands that read many of them differently.
#include <vector>

#include "cli/flags/options.hpp"

namespace auspex::cli {

/// For Command::meanings of `auspex calibrate`, and of `auspex compare`.
[[nodiscard]] std::vector<FlagMeaning> calibrate_meanings();
[[nodiscard]] std::vector<FlagMeaning> compare_meanings();

}  // namespace auspex::cli
