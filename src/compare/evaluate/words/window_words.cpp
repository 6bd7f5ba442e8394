/// @file How many tokens, on which layers.
#include "compare/evaluate/words/window_words.hpp"

#include <algorithm>

#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {

std::optional<StatedWindow> window_in(std::string_view text, int layers) {
    std::vector<std::string> words = words_in(text);
    std::erase_if(words, [](const std::string& word) {
        return is_one_of(word, {"tokens", "token", "window", "on", "in", "with", "of", "the", "layer", "layers"});
    });
    if (words.empty() || is_denial(words.front())) {
        return StatedWindow{};
    }
    const std::optional<int> tokens = number_in(words.front());
    if (!tokens || *tokens < 1) {
        return std::nullopt;
    }
    words.erase(words.begin());
    if (words.size() == 2 && number_in(words[0]) && number_in(words[1])) {
        const int some = *number_in(words[0]), all = *number_in(words[1]);
        return some >= 1 && some <= all ? std::optional(StatedWindow{*tokens, layers * some / all}) : std::nullopt;
    }
    const auto is_half = [](const std::string& word) {
        return is_one_of(word, {"alternate", "alternating", "other", "second", "2nd", "half"});
    };
    const bool is_known = std::ranges::all_of(words, [&](const std::string& word) {
        return is_half(word) || is_one_of(word, {"every", "all", "each"});
    });
    if (!is_known) {
        return std::nullopt;
    }
    return StatedWindow{*tokens, std::ranges::any_of(words, is_half) ? layers / 2 : layers};
}

}  // namespace auspex::evaluate
