/// @file Letters that count.
#include "compare/evaluate/words/spelling.hpp"

#include <algorithm>
#include <cctype>

#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/// "h100", "gb200": what follows a system's name, as "c-benchmarking" and "c 25.04" of DGXC do not.
bool is_gpu(std::string_view letters) {
    const std::size_t number = letters.starts_with("gb") || letters.starts_with("gh") ? 2 : 1;
    return letters.size() > number && letters.front() != 'c' && is_digit(letters[number]);
}

/// Small letters without blanks and hyphens, nor names of makers and of their systems in front.
std::string letters_that_count(std::string_view text) {
    std::string letters;
    for (const char c : text) {
        if (c != ' ' && c != '-' && c != '_') {
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    for (const std::string_view maker : {"nvidia", "tesla", "amd", "instinct", "intel"}) {
        letters = letters.starts_with(maker) ? letters.substr(maker.size()) : letters;
    }
    const bool has_system = letters.starts_with("dgx") || letters.starts_with("hgx");
    return has_system && is_gpu(std::string_view(letters).substr(3)) ? letters.substr(3) : letters;
}

}  // namespace

std::size_t end_of_beginning(std::string_view text, std::string_view name) {
    const std::string wanted = letters_that_count(name);
    if (!letters_that_count(text).starts_with(wanted)) {
        return 0;
    }
    std::size_t end = 1;
    while (end < text.size() && !letters_that_count(text.substr(0, end)).starts_with(wanted)) {
        ++end;
    }
    return end;
}

std::string_view without_count(std::string_view text) {
    const std::size_t behind = text.find_first_not_of("0123456789");
    const bool is_count = behind != 0 && behind != std::string_view::npos;
    const std::size_t sign = is_count ? text.find_first_not_of(' ', behind) : std::string_view::npos;
    if (sign == std::string_view::npos) {
        return text;
    }
    const std::string_view rest = text.substr(sign);
    const bool is_x = rest.size() > 1 && (rest[0] == 'x' || rest[0] == 'X') && !is_digit(rest[1]);
    const std::string_view times = is_x ? rest.substr(0, 1) : rest.starts_with("×") ? rest.substr(0, 2) : "";
    return times.empty() ? text : rest.substr(std::min(rest.find_first_not_of(' ', times.size()), rest.size()));
}

bool begins_with_any(std::string_view text, const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [&](const std::string& name) {
        const std::size_t end = end_of_beginning(text, name);
        return end > 0 && (end >= text.size() || !is_digit(text[end - 1]) || !is_digit(text[end]));
    });
}

bool is_end_of_word(std::string_view text, std::size_t end) {
    if (end >= text.size()) {
        return true;
    }
    const char last = text[end - 1], next = text[end];
    const bool is_version = next == 'v' && end + 1 < text.size() && is_digit(text[end + 1]);
    return is_version || !(is_small_letter(next) || is_capital(next)) || (is_small_letter(last) && is_capital(next));
}

}  // namespace auspex::evaluate
