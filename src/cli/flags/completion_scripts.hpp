#pragma once
/// @file What shells complete the program's commands, flags and names by, made from the table of commands. The names of
/// machines and so on are asked for when they are needed: `auspex completion names`.
#include <string>
#include <vector>

#include "cli/flags/options.hpp"

namespace auspex::cli {

/// The completion script of each shell, for all of these commands and their flags.
[[nodiscard]] std::string bash_completion(const std::vector<Command>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<Command>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<Command>& commands);

}  // namespace auspex::cli
