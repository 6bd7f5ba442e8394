#pragma once
/// @file Columns of text for a terminal, as wide as what stands in them.
#include <string>
#include <vector>

namespace auspex::report {

using TextRow = std::vector<std::string>;

/// The first row is the head. Every column is as wide as its widest cell; two spaces stand between columns. `left`
/// lists the columns that are left-aligned, by index; the others are right-aligned. Requires rows of equal length.
[[nodiscard]] std::string text_table(const std::vector<TextRow>& rows, const std::vector<std::size_t>& left);

/// A part of a table, with a line above it and, if that is not empty, one below.
struct TextPart {
    std::string title;  ///< empty: an empty line only
    std::vector<TextRow> rows;
    std::string below{};
};
/// Parts of one table, so that their columns stand in line; an empty line in front of each.
[[nodiscard]] std::string text_parts(const std::vector<TextPart>& parts, const std::vector<std::size_t>& left);

}  // namespace auspex::report
