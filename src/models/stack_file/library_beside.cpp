/// @file Looks into a folder.
#include "models/stack_file/library_beside.hpp"

#include <filesystem>

namespace auspex::models {

std::optional<JsonDocument> library_beside(const std::string& stack_file, const std::string& name) {
    const std::filesystem::path file = std::filesystem::path(stack_file).parent_path() / (name + ".json");
    std::error_code status;
    return std::filesystem::is_regular_file(file, status) ? std::optional(JsonDocument::load(file.string()))
                                                          : std::nullopt;
}

}  // namespace auspex::models
