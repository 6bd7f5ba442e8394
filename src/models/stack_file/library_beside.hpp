#pragma once
/// @file The file of a library in the folder of a stack that leaves communication to it.
#include <optional>
#include <string>

#include "base/json.hpp"

namespace auspex::models {

/// NAME.json of the folder in which `stack_file` is; nothing where there is no such file.
[[nodiscard]] std::optional<JsonDocument> library_beside(const std::string& stack_file, const std::string& name);

}  // namespace auspex::models
