#pragma once
/// @file A comparison as a page of text and as JSON.
#include <ostream>
#include <string>

#include "compare/evaluate/comparison.hpp"

namespace auspex::cli {

/// First which layouts failed, and that something else ran, if so; then the table, operations, memory, numbers and
/// verdicts.
[[nodiscard]] std::string comparison_text(const evaluate::Comparison& comparison);
/// Keys: docs/json-output.md.
void write_comparison_json(std::ostream& out, const evaluate::Comparison& comparison);

}  // namespace auspex::cli
