#pragma once
/// @file HTML building blocks of the report page: tables and sections. Every text given is escaped here, once.
#include <string>
#include <string_view>
#include <vector>

namespace auspex::report {

/// A table cell: `small` stands below in small print; `css` "n" for numbers (right-aligned), "path" for code-like
/// names.
struct Cell {
    std::string text;
    std::string css{};
    std::string small{};
    int swatch = -1;  ///< colour index before the text
};

/// A right-aligned cell.
[[nodiscard]] Cell number(std::string text, std::string small = {});

/// The first row is the head. `caption` may be empty.
[[nodiscard]] std::string html_table(const std::vector<std::vector<Cell>>& rows, std::string_view caption);
/// A heading that the navigation can point to.
[[nodiscard]] std::string html_heading(std::string_view id, std::string_view text);
/// A <p> with the class `css`, which may be empty.
[[nodiscard]] std::string html_paragraph(std::string_view text, std::string_view css = {});
/// A bulleted list.
[[nodiscard]] std::string html_list(const std::vector<std::string>& items);
/// `svg` is markup already.
[[nodiscard]] std::string html_figure(const std::string& svg, std::string_view caption);

}  // namespace auspex::report
