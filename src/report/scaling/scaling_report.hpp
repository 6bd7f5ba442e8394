#pragma once
/// @file The scaling report: one self-contained HTML page, a Markdown page and a CSV table.
#include <string>
#include <vector>

#include "report/scaling/scale_points.hpp"

namespace auspex::report {

/// Writes DIR/index.html, DIR/report.md, DIR/points.csv and, with two points or more, DIR/efficiency.svg (creating
/// DIR). Throws InputError when the folder cannot be written.
void write_scaling_report(const ScalingReport& report, const std::string& directory);
/// The HTML page, with style sheet and charts inside.
[[nodiscard]] std::string render_html(const ScalingReport& report);
/// The Markdown page.
[[nodiscard]] std::string render_markdown(const ScalingReport& report);
/// One line a point, in SI units, below a line of column names.
[[nodiscard]] std::string render_csv(const ScalingReport& report);

}  // namespace auspex::report
