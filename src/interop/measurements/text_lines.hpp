#pragma once
/// @file Lines of a benchmark's output.
#include <string>
#include <string_view>
#include <vector>

namespace auspex::interop {

struct TextLine {
    std::string place;  ///< "file.txt:12"
    std::string_view text;
    bool has_end = true;  ///< false: the file ends within it
};

/// Every line; ends may be "\n" or "\r\n". They point into `text`.
[[nodiscard]] std::vector<TextLine> text_lines(std::string_view text, const std::string& name);

/// Words between blanks.
[[nodiscard]] std::vector<std::string> words_of(std::string_view line);

/// A plain number from 0 on. Throws InputError at the line's place, naming the column, for anything else.
[[nodiscard]] double number_of(const std::string& word, const TextLine& line, const std::string& column);

}  // namespace auspex::interop
