#pragma once
/// @file The command line of one command, parsed and explained.
#include <string>
#include <vector>

#include "cli/flags/options.hpp"

namespace auspex::cli {

/// Strict: throws InputError for an unknown, repeated, missing or stray argument and for a value that is no number.
[[nodiscard]] Options parse_options(const Command& command, const std::vector<std::string>& arguments);

/// What `auspex COMMAND --help` prints.
[[nodiscard]] std::string help_of(const Command& command);

}  // namespace auspex::cli
