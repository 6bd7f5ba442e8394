#include "base/input_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.hpp"

namespace auspex {
namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{64} << 20;

}  // namespace

std::string lower_case(std::string_view text) {
    std::string letters(text);
    std::ranges::transform(letters, letters.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return letters;
}

std::string printable(std::string_view text, std::size_t longest) {
    std::string out(text.substr(0, longest));
    if (text.size() > longest) {
        // A cut inside a multi-byte character would leave half of it.
        while (!out.empty() && (static_cast<unsigned char>(text[out.size()]) & 0xc0) == 0x80) {
            out.pop_back();
        }
        out += "…";
    }
    std::replace_if(
        out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    return out;
}

std::string plain_json_words(std::string cause) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kWords{
        {{"unexpected end of input", "the text ends too early"},
         {"invalid literal; last read: ", "found what is no JSON value: "},
         {"invalid string: missing closing quote", "a text without its closing quote"},
         {"invalid number; expected digit after '-'", "a \"-\" without a digit behind it"},
         {"unexpected string literal", "found a text in quotes"},
         {"unexpected number literal", "found a number"},
         {"unexpected true literal", "found true"},
         {"unexpected false literal", "found false"},
         {"unexpected null literal", "found null"},
         {"expected string literal", "expected a key in double quotes"},
         {"expected '[', '{', or a literal",
          "expected a value: a number, a text in double quotes, true, false, null, [ or {"},
         {"expected end of input", "expected nothing after the end of the document"},
         {"expected object key", "expected a key in double quotes"},
         {"unexpected '", "found '"}}};
    for (const auto& [theirs, plain] : kWords) {
        if (const std::size_t at = cause.find(theirs); at != std::string::npos) {
            cause.replace(at, theirs.size(), plain);
        }
    }
    return printable(cause, 200);
}

std::string line_and_column(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte - 1, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t newline = before.rfind('\n');
    const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

std::string read_input_file(const std::string& file, const std::string& expected) {
    std::error_code status;
    const std::filesystem::path path(file);
    if (!std::filesystem::exists(path, status)) {
        throw InputError(file, (status ? "found a place that cannot be looked into (" + status.message() + ")"
                                       : "found no such file") +
                                   "; expected " + expected);
    }
    if (!std::filesystem::is_regular_file(path, status)) {
        throw InputError(
            file, (std::filesystem::is_directory(path, status) ? "found a directory; expected "
                                                               : "found something that is no regular file; expected ") +
                      expected);
    }
    const std::uintmax_t size = std::filesystem::file_size(path, status);
    if (status || size > kLargestFile) {
        throw InputError(file, status ? "found a file whose size cannot be read; expected " + expected
                                      : "found a file of more than 64 MiB; expected a smaller one");
    }
    std::ifstream stream(path, std::ios::binary);
    std::string text(static_cast<std::size_t>(size), '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!stream) {
        throw InputError(file, "found a file that cannot be read; expected " + expected + " that can be read");
    }
    return text;
}

std::vector<JsonPathStep> json_path_steps(std::string_view path, const std::string& where) {
    std::vector<JsonPathStep> steps;
    while (true) {
        const std::size_t dot = path.find('.');
        std::string_view part = path.substr(0, dot);
        JsonPathStep step{std::string(part.substr(0, part.find('['))), {}};
        if (step.key.empty()) {
            throw InputError(
                where, "found the path \"" + printable(path) + "\"; expected keys joined by dots, such as node.nics");
        }
        if (part.size() > step.key.size()) {
            part.remove_prefix(step.key.size() + 1);
            std::size_t index = 0;
            const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), index);
            if (status != std::errc() || end + 1 != part.data() + part.size() || *end != ']') {
                throw InputError(where,
                                 "found \"[" + printable(part) + "\" in the path; expected an index such as [0]");
            }
            step.index = index;
        }
        steps.push_back(std::move(step));
        if (dot == std::string_view::npos) {
            return steps;
        }
        path.remove_prefix(dot + 1);
    }
}

}  // namespace auspex
