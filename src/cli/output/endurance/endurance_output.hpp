#pragma once
/// @file Answers of `auspex endure`.
#include <iosfwd>
#include <string>

#include "report/endurance/endurance_report.hpp"

namespace auspex::cli {

/// Tables for a terminal: goodput, kills, pieces, best intervals.
[[nodiscard]] std::string endurance_text(const report::EnduranceReport& report);
/// docs/json-output.md
void write_endurance_json(std::ostream& out, const report::EnduranceReport& report);

}  // namespace auspex::cli
