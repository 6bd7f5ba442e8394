/// @file Lines and words.
#include "interop/measurements/text_lines.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"

namespace auspex::interop {

void for_each_line(std::string_view text, const std::string& name, const std::function<void(const TextLine&)>& take) {
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = text.substr(begin, end - begin);
        line.remove_suffix(line.ends_with('\r') ? 1 : 0);
        take({name, ++number, line, end < text.size()});
        begin = end + 1;
    }
}

std::vector<std::string> words_of(std::string_view line) {
    constexpr std::string_view kBlanks = " \t";
    std::vector<std::string> words;
    for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
        words.emplace_back(line.substr(begin, end - begin));
        begin = line.find_first_not_of(kBlanks, end);
    }
    return words;
}

double number_of(const std::string& word, const TextLine& line, const std::string& column) {
    constexpr double kMost = 1e18;
    double value = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !(value >= 0 && value <= kMost)) {
        throw InputError(line.place(), "column " + json_quote(column) + ": found " + json_quote(printable(word)) +
                                           "; expected a plain number from 0 on");
    }
    return value;
}

}  // namespace auspex::interop
