#pragma once
/// @file Settings as text: of a shell, or the file that has them all.
#include <string>

#include "interop/emission.hpp"

namespace auspex::interop {

/// NAME=( … ), one argument a line, each with the field that it comes from.
[[nodiscard]] std::string arguments_text(const std::string& name, const Settings& settings);
/// export NAME=VALUE, each with the field that it comes from.
[[nodiscard]] std::string variables_text(const Settings& settings);
/// Writes the file in a script: cat >NAME <<'END', with what its lines come from in front.
[[nodiscard]] std::string file_text(const SettingsFile& file);
/// All of it, as it stands in a script; of settings that are a file that file as it is.
[[nodiscard]] std::string emission_text(const Emission& emission);

}  // namespace auspex::interop
