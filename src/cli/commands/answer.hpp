#pragma once
/// @file Commands for programs that call them instead of starting one.
#include <string>
#include <vector>

namespace auspex::cli {

/// The JSON that `auspex COMMAND FLAGS --json` prints; `command` may have two words. Nothing goes to standard output;
/// files are written where flags ask for them. Several threads may call it at once. Throws what the command throws:
/// InputError, launch::Interrupted, std::exception.
[[nodiscard]] std::string answer_of(const std::string& command, const std::vector<std::string>& flags);

}  // namespace auspex::cli
