#pragma once
/// @file Lines of a benchmark's output.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace auspex::interop {

struct TextLine {
    const std::string& file;
    std::size_t number;  ///< from 1 on
    std::string_view text;
    bool has_end;  ///< false: the file ends within it

    /// "file.txt:12"
    [[nodiscard]] std::string place() const { return file + ":" + std::to_string(number); }
};

/// Shows every line to `take`; ends may be "\n" or "\r\n".
void for_each_line(std::string_view text, const std::string& name, const std::function<void(const TextLine&)>& take);

/// Words between blanks.
[[nodiscard]] std::vector<std::string> words_of(std::string_view line);

/// A plain number from 0 on. Throws InputError at the line's place, naming the column, for anything else.
[[nodiscard]] double number_of(const std::string& word, const TextLine& line, const std::string& column);

}  // namespace auspex::interop
