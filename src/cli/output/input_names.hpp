#pragma once
/// @file Which inputs an answer is of, and what the command line changed in them.
#include <string>

#include "base/json_writer.hpp"
#include "cli/flags/options.hpp"
#include "models/inputs.hpp"

namespace auspex::cli {

/// Members of the open object: which inputs, what the command line changed in them, and the program's version.
void write_names(JsonWriter& json, const models::Inputs& inputs, const Options& options);
/// "\nchanged on the command line: plan.pp = 4", or nothing.
[[nodiscard]] std::string overrides_line(const Options& options);

}  // namespace auspex::cli
