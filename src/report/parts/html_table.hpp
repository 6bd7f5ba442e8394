#pragma once
/// @file Tables of pages: heads sort, long ones have a filter, and where a window is narrow columns fold away below
/// their row. Every text given is escaped here, once.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auspex::report {

/// A table cell: `small` stands below in small print; `css` "n" for numbers (right-aligned), "path" for code-like
/// names, "whole" in the first cell of a row that stands below the others whatever they are sorted by.
struct Cell {
    std::string text;
    std::string css{};
    std::string small{};
    int swatch = -1;                ///< colour index before the text
    std::optional<double> value{};  ///< what the row is sorted and filtered by, where the text alone does not say it
    bool is_main = false;           ///< of a head: its column folds away only when all others but the first have
    std::string name{};             ///< of a head: the column in filters, where it is not the text
};

/// A right-aligned cell.
[[nodiscard]] Cell number(std::string text, std::string small = {});
/// The same that sorts by `value`: for texts with units of their own.
[[nodiscard]] Cell number_of(std::string text, double value, std::string small = {});
/// The head of a column that stays on narrow windows.
[[nodiscard]] Cell main_column(Cell head);

using TableRows = std::vector<std::vector<Cell>>;

/// What a table can do beside being read.
struct TableSkills {
    std::string id{};              ///< in the page; empty: the script gives one
    bool is_sorted = false;        ///< the order of rows means something: heads do not sort
    std::string row_name{};        ///< "plans": what the filter counts
    std::string filter_example{};  ///< in the empty field; where it is empty, rows decide whether there is a filter
    bool keeps_address = false;    ///< filter and order stand in the page's address; one table of a page at most
    bool is_tall = false;          ///< long ones scroll below their head
    std::vector<std::string> row_classes{};  ///< by row below the head; may be shorter
};

/// The first row is the head, the first cell of each row the name of it. `caption` may be empty; a longer text belongs
/// into a paragraph beside it.
[[nodiscard]] std::string html_table(const TableRows& rows, std::string_view caption, const TableSkills& skills = {});
/// Rows of text, the first the head: `left` columns from the left and the last hold text, the others numbers.
[[nodiscard]] TableRows cells_of(const std::vector<std::vector<std::string>>& rows, std::size_t left);

}  // namespace auspex::report
