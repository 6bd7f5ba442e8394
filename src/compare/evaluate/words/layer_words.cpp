/// @file A number, and what it counts: layers, layers apart, or hundredths.
#include "compare/evaluate/words/layer_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 8> kOrdinals{{{"other", 2},
                                                                     {"alternate", 2},
                                                                     {"alternating", 2},
                                                                     {"second", 2},
                                                                     {"2nd", 2},
                                                                     {"third", 3},
                                                                     {"3rd", 3},
                                                                     {"fourth", 4}}};

/// One layer of so many: "2nd", "other", "4th".
std::optional<int> ordinal_in(std::string_view word) {
    const auto* const named = std::ranges::find(kOrdinals, word, &std::pair<std::string_view, int>::first);
    return named != kOrdinals.end() ? std::optional(named->second)
           : word.ends_with("th")   ? number_in(word.substr(0, word.size() - 2))
                                    : std::nullopt;
}

bool is_layer(std::string_view word) { return word.starts_with("layer"); }

bool speaks_of_layers(const std::string& word) {
    return is_layer(word) || number_in(word) || ordinal_in(word) ||
           is_one_of(word, {"full", "selective", "sac", "first", "every", "each", "transformer", "of"});
}

}  // namespace

std::optional<int> layers_said(std::string_view text, const std::vector<std::string>& words, int layers, int stage) {
    if (words.size() < 2 || !std::ranges::all_of(words, speaks_of_layers)) {
        return std::nullopt;
    }
    const auto some = [stage](int count) { return std::optional(std::clamp(count, 1, std::max(1, stage))); };
    const std::optional<int> number = number_from(words, 0);
    if (has(text, "%")) {
        constexpr int kAll = 100;
        return number && *number > 0 && *number <= kAll ? some(stage * *number / kAll) : std::nullopt;
    }
    const auto at = std::ranges::find_if(words, [](const auto& word) { return ordinal_in(word).has_value(); });
    if (at != words.end()) {
        return *ordinal_in(*at) > 0 ? some(stage / *ordinal_in(*at)) : std::nullopt;
    }
    if (!number || *number == 0) {
        return std::nullopt;
    }
    const bool is_every = std::ranges::any_of(words, [](const auto& word) {
        return is_one_of(word, {"every", "each"});
    });
    if (is_every || (words.front() != "full" && !is_layer(words.back()))) {
        return some(stage / *number);
    }
    const auto counted = std::ranges::find(words, std::to_string(*number));
    const bool is_of_all =
        *number > stage || std::ranges::find(std::next(counted), words.end(), std::to_string(layers)) != words.end();
    const bool is_group = words.front() == "full" && *number == 1;  // Megatron-LM's "uniform" with groups of one layer
    return is_group || !is_layer(words.back()) ? std::nullopt
                                               : some(is_of_all ? *number * stage / std::max(1, layers) : *number);
}

}  // namespace auspex::evaluate
