#pragma once
/// @file The frameworks of the table of names, read from its file.
#include "base/json_forward.hpp"
#include "compare/evaluate/names/run_names.hpp"

namespace auspex::evaluate {

/// `families`, `frameworks` and `on_gpus` of machines/published/runs.json. Throws InputError.
void load_frameworks(const JsonValue& root, RunNames& names);

}  // namespace auspex::evaluate
