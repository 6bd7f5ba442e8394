#pragma once
/// @file Tables, lists and code blocks of the Markdown pages. Plain text in: everything is escaped.
#include <string>
#include <vector>

#include "report/parts/input_file.hpp"

namespace auspex::report {

using MarkdownRow = std::vector<std::string>;

/// The first row is the head; `left` columns from the left hold text, the others numbers.
[[nodiscard]] std::string markdown_table(const std::vector<MarkdownRow>& rows, std::size_t left);
/// A bulleted list, one line an item.
[[nodiscard]] std::string markdown_list(const std::vector<std::string>& items);
/// Indented, so that no character of the text can end the block.
[[nodiscard]] std::string markdown_code(const std::string& text);
/// Input files with their hashes.
[[nodiscard]] std::string markdown_inputs(const std::vector<InputFile>& inputs);

}  // namespace auspex::report
