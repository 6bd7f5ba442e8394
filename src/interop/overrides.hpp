#pragma once
/// @file Fields of input files that are to have another value, as `--set` says it.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "interop/hugging_face.hpp"
#include "models/stack_file/communication.hpp"

namespace auspex::interop {

/// A field of an input file that is to have another value.
struct Override {
    std::string role, path, value;
};
/// Of "ROLE.PATH=VALUE". Throws InputError.
[[nodiscard]] Override split_override(const std::string& text);

/// "plan.dp=32 plan.pp=16": several overrides in one text, as lists of changes have them. Blanks in front of a role, a
/// path and "=" part them; others belong to a value.
[[nodiscard]] std::vector<std::string> split_overrides(const std::string& text);

/// What the last override of this field ("plan", "pp") makes it; nothing without one.
[[nodiscard]] std::optional<std::string> value_set(const std::vector<std::string>& overrides, const std::string& role,
                                                   const std::string& path);
/// Throws InputError unless every override reads ROLE.PATH=VALUE with one of the roles.
void require_roles(const std::vector<std::string>& overrides, const std::vector<std::string>& roles);

/// The workload that a config.json of Hugging Face says (hugging_face.hpp). An override of a key that it has, or of
/// sequence_length, changes the config, any other one the workload that comes of it.
[[nodiscard]] ImportedWorkload import_workload(JsonDocument config, const std::vector<std::string>& overrides);

/// The document of a role with the overrides of that role; a workload may be a config.json, a stack is in full
/// (models::with_communication) for tiles of an architecture, with the library that an override of "communication"
/// names. Throws InputError.
[[nodiscard]] JsonDocument with_overrides(const std::string& role, JsonDocument document,
                                          const std::vector<std::string>& overrides, std::string_view architecture,
                                          const models::LibraryLoader& load_library);

}  // namespace auspex::interop
