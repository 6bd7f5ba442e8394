/// @file Words near a word.
#include "compare/evaluate/words/denials.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/input_text.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

bool parts_clauses(std::string_view word) { return is_one_of(word, {"and", "but", "with", "plus"}); }

/// The words of the clause that ends there, the last one first.
std::vector<std::string> words_before(std::string_view text, std::size_t end) {
    const std::size_t comma = text.substr(0, end).find_last_of(",;()[]+");
    const std::size_t begin = comma == std::string_view::npos ? 0 : comma + 1;
    std::vector<std::string> words = words_in(text.substr(begin, end - begin));
    std::ranges::reverse(words);
    words.erase(std::ranges::find_if(words, parts_clauses), words.end());
    return words;
}

/// The words of the clause, or of the brackets, that begin there; without those that say nothing.
std::vector<std::string> words_behind(std::string_view text, std::size_t begin) {
    begin = std::min(text.find_first_not_of(" ([:=", begin), text.size());
    const std::size_t end = std::min(text.find_first_of(",;()[]+", begin), text.size());
    std::vector<std::string> words = words_in(text.substr(begin, end - begin));
    words.erase(std::ranges::find_if(words, parts_clauses), words.end());
    std::erase_if(words, [](const std::string& word) {
        return is_one_of(word, {"is", "was", "were", "could", "be", "mode"});
    });
    const auto behind_version =
        std::ranges::find_if(words, [](const std::string& word) { return !number_in(word).has_value(); });
    if (behind_version != words.end()) {  // "flash-attn 2.7 was disabled"; numbers alone stay: "compile=0"
        words.erase(words.begin(), behind_version);
    }
    return words;
}

bool denies_what_follows(std::string_view word) {
    return is_one_of(word,
                     {"no", "not", "non", "without", "lacking", "disable", "disabled", "disables", "never", "before"});
}

bool denies_what_precedes(const std::vector<std::string>& words, bool is_in_brackets) {
    if (words.empty()) {
        return false;
    }
    constexpr std::size_t kObject = 2;  // "FP8 attention off", not "torchtitan (ezpz off)"
    if (words.size() == kObject && !is_in_brackets && is_one_of(words[1], {"off", "disabled", "false"})) {
        return true;
    }
    const bool is_alone =
        words.size() == 1 || is_one_of(words[1], {"used", "enabled", "applied", "on", "installed", "available"});
    return is_one_of(words[0], {"false", "off", "none", "null", "disabled", "missing", "unavailable"}) ||
           (is_alone && is_one_of(words[0], {"no", "not", "0"}));  // not the 0 of "Tutel 0.3"
}

}  // namespace

bool is_denial(std::string_view word) {
    return word.starts_with("none") ||
           is_one_of(word, {"no", "not", "off", "false", "null", "without", "disabled", "never", "0"});
}

bool is_denied(std::string_view text, std::size_t begin, std::size_t end) {
    const std::string letters = lower_case(text);
    const std::string_view whole = letters;
    std::size_t first = begin;  // of the whole word
    while (first > 0 && is_letter_or_digit(whole[first - 1])) {
        --first;
    }
    while (end < whole.size() && is_letter_or_digit(whole[end])) {
        ++end;
    }
    const std::string_view prefix = whole.substr(first, begin - first);
    if (is_one_of(prefix, {"un", "non", "no"})) {
        return true;
    }
    constexpr std::size_t kNear = 2;
    const std::vector<std::string> before = words_before(whole, first);
    const auto near = before.begin() + static_cast<std::ptrdiff_t>(std::min(before.size(), kNear));
    const bool is_without = before.size() > 1 && before[0] == "o" && before[1] == "w";  // w/o
    const bool is_replaced = before.size() > 1 && before[0] == "of" && is_one_of(before[1], {"instead", "lieu"});
    return is_without || is_replaced || std::any_of(before.begin(), near, denies_what_follows) ||
           denies_what_precedes(words_behind(whole, end),
                                whole.find_first_of("([", end) == whole.find_first_not_of(' ', end));
}

Said said_of(std::string_view text, std::string_view word) {
    const std::string letters = lower_case(text), wanted = lower_case(word);
    Said said = Said::kNot;
    for (std::size_t at = letters.find(wanted); at != std::string::npos; at = letters.find(wanted, at + 1)) {
        if (!is_denied(letters, at, at + wanted.size())) {
            return Said::kYes;
        }
        said = Said::kDenied;
    }
    return said;
}

bool says(std::string_view text, std::string_view word) { return said_of(text, word) == Said::kYes; }

bool denies(std::string_view text, std::string_view subject) {
    const std::vector<std::string> words = words_in(text);
    return (!words.empty() && is_denial(words.front())) || said_of(text, subject) == Said::kDenied;
}

}  // namespace auspex::evaluate
