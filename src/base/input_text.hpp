#pragma once
/// @file Text of input files on its way in (whole files, paths into them) and on its way out in one-line messages.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auspex {

/// Text for a one-line message: cut after `longest` bytes, control characters shown as "?".
[[nodiscard]] std::string printable(std::string_view text, std::size_t longest = 60);

/// ASCII letters made small, for words that count in any case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// The JSON parser's words for what it met, as a reader of the file would say them.
[[nodiscard]] std::string plain_json_words(std::string cause);

/// "line 3, column 8" of a byte counted from 1.
[[nodiscard]] std::string line_and_column(std::string_view text, std::size_t byte);

/// Throws InputError for a missing file, a directory, anything that is no regular file, and more than 64 MiB; it says
/// that `expected` was expected.
[[nodiscard]] std::string read_input_file(const std::string& file, const std::string& expected = "a JSON file");

/// One step of a dotted path: a key, or the index behind it in brackets.
struct JsonPathStep {
    std::string key;
    std::optional<std::size_t> index;
};

/// "a.b[2].c" -> a, b[2], c. Throws InputError at `where` for an empty key or a broken index.
[[nodiscard]] std::vector<JsonPathStep> json_path_steps(std::string_view path, const std::string& where);

}  // namespace auspex
