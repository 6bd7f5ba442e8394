/// @file Letters to words.
#include "compare/evaluate/words/words.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"

namespace auspex::evaluate {

std::vector<std::string> words_in(std::string_view text) {
    std::vector<std::string> words;
    bool is_inside = false;
    for (const char c : lower_case(text)) {
        const bool is_part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        if (is_part && !is_inside) {
            words.emplace_back();
        }
        if (is_part) {
            words.back() += c;
        }
        is_inside = is_part;
    }
    return words;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool contains_any(std::string_view text, const std::vector<std::string>& parts) {
    return parts.empty() || std::ranges::any_of(parts, [&](const std::string& part) { return has(text, part); });
}

bool is_one_of(std::string_view word, const std::vector<std::string_view>& words) {
    return std::ranges::find(words, word) != words.end();
}

std::optional<int> number_in(std::string_view word) {
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc{} && end == word.data() + word.size() && number >= 0 ? std::optional(number)
                                                                                   : std::nullopt;
}

std::optional<int> number_from(const std::vector<std::string>& words, std::size_t begin) {
    for (std::size_t i = begin; i < words.size(); ++i) {
        if (const std::optional<int> number = number_in(words[i])) {
            return number;
        }
    }
    return std::nullopt;
}

bool is_unstated(std::string_view text) {
    const std::string said = lower_case(text);
    constexpr std::string_view kBeginnings[] = {
        "see ",         "not stated", "unstated", "not specified", "unspecified",
        "not reported", "not given",  "unknown",  "n/a",           "?"};
    return said.empty() ||
           std::ranges::any_of(kBeginnings, [&](std::string_view beginning) { return said.starts_with(beginning); });
}

std::string quoted_list(const std::vector<std::string>& words) {
    std::string list;
    for (auto word = words.begin(); word != words.end(); ++word) {
        if (std::find(words.begin(), word, *word) == word) {
            list += (list.empty() ? "" : ", ") + json_quote(*word);
        }
    }
    return list;
}

void refuse(const std::string& id, const std::string& found, const std::string& expected) {
    throw InputError(id, "found " + found + "; expected " + expected);
}

}  // namespace auspex::evaluate
