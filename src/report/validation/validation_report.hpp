#pragma once
/// @file The folder of auspex validate --out: a page, the same as Markdown and tables, and the inputs of every case.
#include <string>

#include "report/validation/validation_data.hpp"

namespace auspex::report {

/// Writes DIR/index.html, report.md, scatter.svg, validation.csv and inputs/ID/{workload.json,plan.json,command.txt} of
/// each predicted case (creating DIR). Throws InputError when the folder cannot be written.
void write_validation_report(const ValidationReport& report);

[[nodiscard]] std::string render_validation_html(const ValidationReport& report);
[[nodiscard]] std::string render_validation_markdown(const ValidationReport& report);
/// One line a case, predicted or not, in SI units, below a line of column names.
[[nodiscard]] std::string render_validation_csv(const ValidationReport& report);

/// "196 published runs predicted: those that gave no constant 12.1 % off in the mean, median 8.5 %; …".
[[nodiscard]] std::string validation_headline(const ValidationReport& report);

}  // namespace auspex::report
