#pragma once
/// @file HTML building blocks of the report page: tables and sections. Every text given is escaped here, once.
#include <string>
#include <string_view>
#include <vector>

#include "report/parts/input_file.hpp"

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
/// A big value over its meaning; `bad` in the colour of a warning. Of html_cards.
struct Card {
    std::string value, meaning;
    bool bad = false;
};
[[nodiscard]] std::string html_cards(const std::vector<Card>& cards);
/// The command that makes the page again, files and changes.
[[nodiscard]] std::string html_provenance(std::string_view command, const std::vector<InputFile>& inputs,
                                          const std::vector<std::string>& overrides);
/// The whole document with kPageStyle; `style` is CSS and `body` markup already.
[[nodiscard]] std::string html_document(std::string_view title, std::string_view style, const std::string& body);
/// `svg` is markup already.
[[nodiscard]] std::string html_figure(const std::string& svg, std::string_view caption);

}  // namespace auspex::report
