#pragma once
/// @file Tables as CSV text, read and written: lines, fields, quotes.
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

/// A field as RFC 4180 has it: in quotes where it holds a comma, a quote or an end of a line, quotes written twice.
[[nodiscard]] std::string csv_field(std::string_view text);
/// Fields with commas between, and "\n" behind.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& fields);

}  // namespace auspex
