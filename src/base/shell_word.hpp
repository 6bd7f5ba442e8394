#pragma once
/// @file Words for a shell.
#include <string>

namespace auspex {

/// The word as a shell reads it back: in single quotes where it needs them.
[[nodiscard]] std::string quoted_for_shell(const std::string& word);

}  // namespace auspex
