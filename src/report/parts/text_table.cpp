/// @file Cells padded to the width of their column.
#include "report/parts/text_table.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace auspex::report {
namespace {

/// Characters, not bytes: a byte 10xxxxxx goes on with a character of UTF-8.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string text_table(const std::vector<TextRow>& rows, const std::vector<std::size_t>& left) {
    std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size(), 0);
    for (const TextRow& row : rows) {
        AUSPEX_CHECK(row.size() == widths.size(), "rows of a table are equally long");
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(row[i]));
        }
    }
    std::string out;
    for (const TextRow& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - width_of(row[i]), ' ');
            const bool is_left = std::find(left.begin(), left.end(), i) != left.end();
            line += (i > 0 ? "  " : "") + (is_left ? row[i] + space : space + row[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::string text_parts(const std::vector<TextPart>& parts, const std::vector<std::size_t>& left) {
    std::vector<TextRow> rows;
    for (const TextPart& part : parts) {
        rows.insert(rows.end(), part.rows.begin(), part.rows.end());
    }
    const std::string table = text_table(rows, left);
    std::string out;
    std::size_t at = 0;
    for (const TextPart& part : parts) {
        out += "\n" + part.title + (part.title.empty() ? "" : "\n");
        for (std::size_t row = 0; row < part.rows.size(); ++row) {
            const std::size_t end = table.find('\n', at) + 1;
            out += table.substr(at, end - at);
            at = end;
        }
        out += part.below + (part.below.empty() ? "" : "\n");
    }
    return out;
}

}  // namespace auspex::report
