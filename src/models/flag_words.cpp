/// @file Words to flags.
#include "models/flag_words.hpp"

#include <algorithm>
#include <string>

namespace auspex::models {

namespace {

std::string quoted(std::span<const std::string_view> words) {
    std::string all;
    for (const std::string_view word : words) {
        all += (all.empty() ? "" : ", ") + json_quote(word);
    }
    return all;
}

}  // namespace

std::size_t word_of(const JsonValue& value, std::initializer_list<std::string_view> words, std::string_view or_else) {
    const auto* const word = value.is_string() ? std::ranges::find(words, value.as_string()) : words.end();
    if (word == words.end()) {
        value.fail("one of " + quoted({words.begin(), words.size()}) + ", or " + std::string(or_else));
    }
    return static_cast<std::size_t>(word - words.begin());
}

std::vector<JsonValue> elements_of(const JsonValue& list, std::span<const std::string_view> words) {
    if (!list.is_array()) {
        const std::string example = "[" + json_quote(words.front()) + "]";
        list.fail("an array of " + quoted(words) + ", such as " + example + " (in a shell '" + example + "')");
    }
    return list.elements();
}

void set_flags(const JsonValue& list, std::initializer_list<std::string_view> words,
               std::initializer_list<bool*> flags) {
    for (const JsonValue& word : elements_of(list, {words.begin(), words.size()})) {
        bool& flag = **(flags.begin() + word.as_one_of(words));
        if (flag) {
            word.fail("each word once");
        }
        flag = true;
    }
}

}  // namespace auspex::models
