#pragma once
/// @file Words that stand beside lists, and lists of words of which each sets a flag.
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace auspex::models {

/// The elements of a list of words. What is no list throws InputError with the words that there are and an example.
[[nodiscard]] std::vector<JsonValue> elements_of(const JsonValue& list, std::span<const std::string_view> words);

/// The place of a value among words, of which it has to be one. What is none throws InputError with them and `or_else`,
/// what there may be in their place.
[[nodiscard]] std::size_t word_of(const JsonValue& value, std::initializer_list<std::string_view> words,
                                  std::string_view or_else);

/// Sets the flag of each word that the list has. Throws InputError for another word, and for one that is there twice.
void set_flags(const JsonValue& list, std::initializer_list<std::string_view> words,
               std::initializer_list<bool*> flags);

}  // namespace auspex::models
