#pragma once
/// @file A run beside its prediction, printed.
#include <ostream>

#include "base/json_writer.hpp"
#include "compare/kineto/account/run_diff.hpp"

namespace auspex::cli {

/// Members of the object that `auspex diff PLAN TRACE --json` prints.
void write_run_diff(JsonWriter& json, const kineto::RunDiff& diff);

/// Tables.
void print_run_diff(std::ostream& out, const kineto::RunDiff& diff);

}  // namespace auspex::cli
