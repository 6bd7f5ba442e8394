/// @file HTML building blocks.
#include "report/parts/page.hpp"

#include <algorithm>

#include "report/parts/page_style.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {

namespace {

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

std::string html_cell(const Cell& cell, std::string_view element) {
    const std::string name(element);
    std::string out = "<" + name + class_attribute(cell.css) + ">";
    if (cell.swatch >= 0) {
        out += "<span class=\"swatch l" + std::to_string(cell.swatch) + "\"></span>";
    }
    out += cell.css == "path" ? breakable(cell.text) : html_escape(cell.text);
    if (!cell.small.empty()) {
        out += "<small>" + html_escape(cell.small) + "</small>";
    }
    return out + "</" + name + ">";
}

std::string html_row(const std::vector<Cell>& cells, std::string_view element) {
    std::string out = "<tr>";
    for (const Cell& cell : cells) {
        out += html_cell(cell, element);
    }
    return out + "</tr>\n";
}

}  // namespace

Cell number(std::string text, std::string small) { return {std::move(text), "n", std::move(small)}; }

std::string html_table(const std::vector<std::vector<Cell>>& rows, std::string_view caption) {
    std::string out =
        caption.empty() ? ""
                        : html_paragraph(caption, "caption");  // outside, so that it does not scroll with a wide table
    out += "<div class=\"scroll\"><table>\n";
    out += "<thead>" + html_row(rows.front(), "th") + "</thead>\n<tbody>\n";
    for (std::size_t row = 1; row < rows.size(); ++row) {
        out += html_row(rows[row], "td");
    }
    return out + "</tbody></table></div>\n";
}

std::string html_heading(std::string_view id, std::string_view text) {
    return "<h2 id=\"" + html_escape(id) + "\">" + html_escape(text) + "</h2>\n";
}

std::string html_paragraph(std::string_view text, std::string_view css) {
    return "<p" + class_attribute(css) + ">" + html_escape(text) + "</p>\n";
}

std::string html_list(const std::vector<std::string>& items) {
    std::string out = "<ul>\n";
    for (const std::string& item : items) {
        out += "<li>" + html_escape(item) + "</li>\n";
    }
    return out + "</ul>\n";
}

std::string html_cards(const std::vector<Card>& cards) {
    std::string out = "<div class=\"cards\">\n";
    for (const Card& card : cards) {
        out += "<div class=\"card\"><b" + std::string(card.bad ? " class=\"bad\"" : "") + ">" +
               html_escape(card.value) + "</b><span>" + html_escape(card.meaning) + "</span></div>\n";
    }
    return out + "</div>\n";
}

std::string html_provenance(std::string_view command, const std::vector<InputFile>& inputs,
                            const std::vector<std::string>& overrides) {
    std::string out = html_heading("provenance", "Where this page comes from");
    out += html_paragraph("This command makes the page again:") + "<pre>" + html_escape(command) + "</pre>\n";
    std::vector<std::vector<Cell>> rows{{{"input"}, {"file"}, {"SHA-256 of the file"}}};
    for (const InputFile& input : inputs) {
        rows.push_back({{input.role}, {input.file, "path"}, {input.sha256, "path"}});
    }
    out += html_table(rows, {});
    return overrides.empty() ? out : out + html_paragraph("Changed on the command line:") + html_list(overrides);
}

std::string html_document(std::string_view title, std::string_view style, const std::string& body) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
           html_escape(title) + "</title>\n<style>" + kPageStyle + std::string(style) +
           "</style>\n</head>\n<body><main>\n<h1>" + html_escape(title) + "</h1>\n" + body +
           "</main></body>\n</html>\n";
}

std::string html_figure(const std::string& svg, std::string_view caption) {
    return "<figure><p class=\"hint\">On a narrow screen, scroll sideways to see all of it.</p><div "
           "class=\"scroll\">\n" +
           svg + "</div><figcaption>" + html_escape(caption) + "</figcaption></figure>\n";
}

}  // namespace auspex::report
