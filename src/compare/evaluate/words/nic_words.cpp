/// @file Numbers before an x and before a unit; kinds of links.
#include "compare/evaluate/words/nic_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

#include "base/input_text.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

struct Number {
    double value = 0;
    std::string_view rest;  ///< of the text, without blanks in front
};

/// Numbers of the text that are no part of a word: not the 7 of "ConnectX-7", nor the 11 of "Slingshot-11".
std::vector<Number> numbers_in(std::string_view text) {
    const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    std::vector<Number> numbers;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_digit = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
        const bool is_behind_x =
            at > 1 && text[at - 1] == 'x' && !std::isalpha(static_cast<unsigned char>(text[at - 2]));
        const bool is_behind_word =
            at > 0 && (is_letter(text[at - 1]) || (text[at - 1] == '-' && at > 1 && is_letter(text[at - 2])));
        if (!is_digit || (is_behind_word && !is_behind_x)) {
            continue;
        }
        Number number;
        const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number.value);
        const std::size_t next = static_cast<std::size_t>(end - text.data());
        number.rest = text.substr(std::min(text.find_first_not_of(" -", next), text.size()));
        numbers.push_back(number);
        at = std::max(next, at + 1) - 1;
    }
    return numbers;
}

/// Gb/s of one of the unit that stands there; 0: none does. Bytes are not bits: "25 GB/s" is told by its case.
double unit_at(std::string_view rest) {
    constexpr double kTera = 1000, kBits = 8;
    const std::string small = lower_case(rest.substr(0, 6)) + " ";  // "g" is a unit where the word ends
    if (rest.starts_with("GB/s") || rest.starts_with("GBps")) {
        return kBits;
    }
    constexpr std::array<std::string_view, 6> kGiga{"gb/s", "gbps", "gbit", "gb ", "g/s", "g "};
    const auto begins = [&](std::string_view unit) { return std::string_view(small).starts_with(unit); };
    return begins("tb/s") || begins("tbps") || begins("tbit") ? kTera : std::ranges::any_of(kGiga, begins) ? 1 : 0;
}

double rate_of_kind(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 11> kKinds{{{"ndr200", 200},
                                                                          {"hdr100", 100},
                                                                          {"xdr", 800},
                                                                          {"ndr", 400},
                                                                          {"hdr", 200},
                                                                          {"edr", 100},
                                                                          {"slingshot-11", 200},
                                                                          {"slingshot 11", 200},
                                                                          {"omni-path", 100},
                                                                          {"omnipath", 100},
                                                                          {"slingshot-10", 100}}};
    const auto found = std::ranges::find_if(kKinds, [&](const auto& kind) { return has(text, kind.first); });
    return found == kKinds.end() ? 0 : found->second;
}

}  // namespace

NicWords nics_in(std::string_view text, int gpus) {
    const std::string small = lower_case(text);
    const std::vector<Number> numbers = numbers_in(text);
    const auto is_rate = [](const Number& n) { return unit_at(n.rest) > 0; };
    const auto is_count = [&](const Number& n) {
        return !is_rate(n) && !n.rest.empty() && n.value >= 1 && n.value == static_cast<int>(n.value);
    };
    const auto has_x = [&](const Number& n) {
        return is_count(n) && (n.rest.starts_with("x") || n.rest.starts_with("X") || n.rest.starts_with("\u00d7"));
    };
    NicWords words;
    const bool is_of_each = contains_any(small, {"per gpu", "per gcd", "per tile", "a gpu", "per-gpu", "/gpu"});
    auto count = std::ranges::find_if(numbers, has_x);
    count = count == numbers.end() && !numbers.empty() && is_count(numbers.front()) ? numbers.begin() : count;
    if (count != numbers.end()) {
        words.count = static_cast<int>(count->value);
    } else if (is_of_each) {
        words.count = gpus;
    }
    // Of "1600 Gb/s node-node (8x200Gb/s)" the rate behind the count.
    const auto rate = std::find_if(count == numbers.end() ? numbers.begin() : count, numbers.end(), is_rate);
    double stated = rate == numbers.end() ? 0 : rate->value * unit_at(rate->rest);
    constexpr double kLeastRate = 25;
    if (stated == 0 && count != numbers.end() && has_x(*count) && std::next(count) != numbers.end() &&
        std::next(count)->value >= kLeastRate) {
        stated = std::next(count)->value;  // "4x200"
    }
    if (words.count > 0) {
        words.gbit_s = stated > 0 ? stated : rate_of_kind(small);
    } else if (contains_any(small, {"node", "total", "aggregate", "server", "tb/s", "tbps"})) {
        words.total_gbit_s = stated;
    }
    return words;
}

}  // namespace auspex::evaluate
