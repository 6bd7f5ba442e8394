#pragma once
/// @file Tables as CSV text: lines, fields, quotes.
#include <string>
#include <string_view>
#include <vector>

namespace auspex {

/// A line of a CSV file that is neither empty nor a comment.
struct CsvLine {
    std::string place;  ///< "file.csv:12"
    std::string_view text;
};

/// The lines of `text` without those that are empty or begin with '#'; ends of lines may be "\n" or "\r\n". They point
/// into `text`.
[[nodiscard]] std::vector<CsvLine> csv_lines(std::string_view text, const std::string& name);

/// Cuts a line at its commas; a field may stand in quotes, a quote inside them is written twice. Throws InputError at
/// `place` for quotes that do not close or have text beside them.
[[nodiscard]] std::vector<std::string> csv_fields(std::string_view text, const std::string& place);

}  // namespace auspex
