#pragma once
/// @file A difference in words and rows, for page and terminal.
#include <string>
#include <vector>

#include "report/difference/difference.hpp"

namespace auspex::report {

/// "b.json against a.json: 6.40 s a step instead of 8.31 s (−23.0 %), MFU 6.6 % instead of 5.1 %; most of the change is
/// idle pipeline stages (−1.42 s)".
[[nodiscard]] std::string difference_headline(const Difference& difference);
/// A number of `totals` as people read it, by its key: "8.31 s", "5.1 %", "757 k".
[[nodiscard]] std::string total_text(const std::string& key, double value);
/// What changed, with its sign: "−1.91 s"; of MFU in points.
[[nodiscard]] std::string change_of_total(const NumberChange& total);
/// "−23.0 %", "new", "same".
[[nodiscard]] std::string relative_change(const NumberChange& row);
/// All of it, for a terminal.
[[nodiscard]] std::string difference_text(const Difference& difference);

}  // namespace auspex::report
