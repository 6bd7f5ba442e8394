/// @file Whole texts, so that no number of another meaning is taken for layers.
#include "compare/evaluate/words/layer_words.hpp"

#include <array>
#include <regex>
#include <string_view>

#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

/// One layer of so many: "4", "4th", "other", "fourth", "four"; 0: none.
int apart_in(const std::string& word) {
    constexpr std::array<std::array<std::string_view, 3>, 4> kNames{{{"other", "second", "two"},
                                                                     {"third", "three", "three"},
                                                                     {"fourth", "four", "four"},
                                                                     {"fifth", "five", "five"}}};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        for (const std::string_view name : kNames.at(i)) {
            if (word == name) {
                return static_cast<int>(i) + 2;
            }
        }
    }
    return number_in(std::string_view(word).substr(0, word.find_first_not_of("0123456789"))).value_or(0);
}

std::optional<LayersSaid> share(int count, int of) {
    return count > 0 && count <= of ? std::optional(LayersSaid{count, of}) : std::nullopt;
}

}  // namespace

std::optional<LayersSaid> layers_said(const std::vector<std::string>& words) {
    static const std::regex every(
        "(?:(?:selective|sac|full) )?(?:every|each) ([a-z0-9]+) (?:transformer )?(?:layer|block)s?"),
        alternate("(?:(?:selective|sac) )?alternat(?:e|ing) (?:layer|block)s?"),
        selective("(?:selective|sac) ([0-9]+)"),
        percent("(?:(?:selective|sac|full) )?([0-9]+) percent layers?|(?:selective|sac|full) ([0-9]+) percent"),
        some_of("(?:full )?(?:first )?([0-9]+) ([0-9]+) layers?"), some("(full )?(?:first )?([0-9]+) layers?");
    constexpr int kHundred = 100;
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : " ") + word;
    }
    const auto number = [](const std::ssub_match& digits) { return number_in(digits.str()).value_or(0); };
    std::smatch found;
    if (std::regex_match(text, found, every) || std::regex_match(text, found, selective)) {
        return share(1, apart_in(found.str(1)));
    }
    if (std::regex_match(text, alternate)) {
        return share(1, 2);
    }
    if (std::regex_match(text, found, percent)) {
        return share(number(found[1].matched ? found[1] : found[2]), kHundred);
    }
    if (std::regex_match(text, found, some_of)) {
        return share(number(found[1]), number(found[2]));
    }
    if (std::regex_match(text, found, some) && !(found[1].matched && number(found[2]) == 1)) {
        const int layers = number(found[2]);
        return layers > 0 ? std::optional(LayersSaid{layers, 0}) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace auspex::evaluate
