/// @file Cutting and quoting CSV text.
#include "base/csv.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace auspex {

std::vector<CsvLine> csv_lines(std::string_view text, const std::string& name) {
    std::vector<CsvLine> lines;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view content = text.substr(begin, end - begin);
        begin = end + 1;
        ++number;
        if (content.ends_with('\r')) {
            content.remove_suffix(1);
        }
        if (!content.empty() && !content.starts_with('#')) {
            lines.push_back({name + ":" + std::to_string(number), content});
        }
    }
    return lines;
}

std::vector<std::string> csv_fields(std::string_view text, const std::string& place) {
    std::vector<std::string> fields(1);
    bool is_open = false, was_closed = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (is_open) {
            if (c != '"') {
                fields.back() += c;
            } else if (text.substr(i + 1).starts_with('"')) {
                fields.back() += text[++i];
            } else {
                is_open = false;
                was_closed = true;
            }
        } else if (c == ',') {
            fields.emplace_back();
            was_closed = false;
        } else if (was_closed || (c == '"' && !fields.back().empty())) {
            throw InputError(place, "found text beside the quotes of field " + std::to_string(fields.size()) +
                                        "; expected quotes round the whole field");
        } else if (c == '"') {
            is_open = true;
        } else {
            fields.back() += c;
        }
    }
    if (is_open) {
        throw InputError(place, "found a quote that does not close; expected its end on the same line");
    }
    return fields;
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        line += (i == 0 ? "" : ",") + csv_field(fields[i]);
    }
    return line + "\n";
}

}  // namespace auspex
