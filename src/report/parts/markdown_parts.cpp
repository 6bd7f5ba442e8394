/// @file Parts that Markdown pages are made of.
#include "report/parts/markdown_parts.hpp"

#include "report/parts/text.hpp"

namespace auspex::report {

std::string markdown_table(const std::vector<MarkdownRow>& rows, std::size_t left) {
    std::string out;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        out += "|";
        for (const std::string& cell : rows[row]) {
            out += " " + markdown_escape(cell) + " |";
        }
        out += "\n";
        if (row == 0) {
            out += "|";
            for (std::size_t column = 0; column < rows[0].size(); ++column) {
                out += column < left ? "---|" : "---:|";
            }
            out += "\n";
        }
    }
    return out + "\n";
}

std::string markdown_list(const std::vector<std::string>& items) {
    std::string out;
    for (const std::string& item : items) {
        out += "- " + markdown_escape(item) + "\n";
    }
    return out + "\n";
}

std::string markdown_code(const std::string& text) {
    std::string out = "    ";
    for (const char c : text) {
        out += c;
        out += c == '\n' ? "    " : "";
    }
    return out + "\n\n";
}

std::string markdown_inputs(const std::vector<InputFile>& inputs) {
    std::vector<MarkdownRow> rows{{"input", "file", "SHA-256"}};
    for (const InputFile& input : inputs) {
        rows.push_back({input.role, input.file, input.sha256});
    }
    return markdown_table(rows, 3);
}

}  // namespace auspex::report
