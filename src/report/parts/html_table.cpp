/// @file Tables as markup.
#include "report/parts/html_table.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr std::size_t kSorted = 2, kFiltered = 16;  // rows from which on there is something to sort, to look for

std::string class_attribute(std::string_view css) { return css.empty() ? "" : " class=\"" + html_escape(css) + "\""; }

/// A name may break behind its dots, underscores and slashes.
std::string breakable(std::string_view name) {
    std::string out;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = std::min(name.find_first_of("._/", at), name.size() - 1) + 1;
        out += html_escape(name.substr(at, end - at)) + (end < name.size() ? "<wbr>" : "");
        at = end;
    }
    return out;
}

std::string content_of(const Cell& cell) {
    std::string out;
    if (cell.swatch >= 0) {
        out += "<span class=\"swatch l" + std::to_string(cell.swatch) + "\"></span>";
    }
    out += cell.css == "path" ? breakable(cell.text) : html_escape(cell.text);
    if (!cell.small.empty()) {
        out += "<small>" + html_escape(cell.small) + "</small>";
    }
    return out;
}

std::string head_row(const std::vector<Cell>& cells) {
    std::string out = "<tr>";
    for (const Cell& cell : cells) {
        out += "<th scope=\"col\"" + class_attribute(cell.css) + (cell.is_main ? " data-main" : "") +
               (cell.name.empty() ? "" : " data-name=\"" + html_escape(cell.name) + "\"") + ">" + content_of(cell) +
               "</th>";
    }
    return out + "</tr>";
}

std::string body_row(const std::vector<Cell>& cells, std::string_view row_class) {
    std::string out = "<tr" + class_attribute(row_class) + ">";
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Cell& cell = cells[i];
        out += (i == 0 ? "<th scope=\"row\"" : "<td") + class_attribute(cell.css) +
               (cell.value ? " data-v=\"" + json_number(*cell.value) + "\"" : "") + ">" + content_of(cell) +
               (i == 0 ? "</th>" : "</td>");
    }
    return out + "</tr>\n";
}

std::string attributes_of(const TableSkills& skills, std::size_t rows) {
    std::string out = skills.id.empty() ? "" : " id=\"" + html_escape(skills.id) + "\"";
    if (!skills.is_sorted && rows >= kSorted) {
        out += " data-sort";
    }
    if (!skills.filter_example.empty() || (!skills.is_sorted && rows >= kFiltered)) {
        out += " data-filter=\"" +
               html_escape(skills.filter_example.empty() ? "part of a row, or COLUMN>=N" : skills.filter_example) +
               "\"";
    }
    out += skills.row_name.empty() ? "" : " data-rows=\"" + html_escape(skills.row_name) + "\"";
    return out + (skills.keeps_address ? " data-address" : "");
}

}  // namespace

Cell number(std::string text, std::string small) { return {std::move(text), "n", std::move(small)}; }

Cell number_of(std::string text, double value, std::string small) {
    Cell cell = number(std::move(text), std::move(small));
    cell.value = value;
    return cell;
}

Cell main_column(Cell head) {
    head.is_main = true;
    return head;
}

std::string html_table(const TableRows& rows, std::string_view caption, const TableSkills& skills) {
    std::string body, foot;
    for (std::size_t row = 1; row < rows.size(); ++row) {
        const bool is_whole = rows[row].front().css == "whole";
        (is_whole ? foot : body) +=
            body_row(rows[row], row <= skills.row_classes.size() ? skills.row_classes[row - 1] : std::string_view());
    }
    std::string out = "<div class=\"scroll" + std::string(skills.is_tall ? " tall" : "") + "\"><table" +
                      attributes_of(skills, rows.size() - 1) + ">\n";
    out += caption.empty() ? "" : "<caption><span>" + html_escape(caption) + "</span></caption>\n";
    out += "<thead>" + head_row(rows.front()) + "</thead>\n<tbody>\n" + body + "</tbody>";
    return out + (foot.empty() ? "" : "\n<tfoot>\n" + foot + "</tfoot>") + "</table></div>\n";
}

TableRows cells_of(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
    TableRows cells;
    for (const std::vector<std::string>& row : rows) {
        std::vector<Cell>& line = cells.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i) {
            line.push_back(i < left || i + 1 == row.size() ? Cell{row[i]} : number(row[i]));
        }
    }
    return cells;
}

}  // namespace auspex::report
