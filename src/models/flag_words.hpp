#pragma once
/// @file Lists of words of which each sets a flag.
#include <initializer_list>
#include <string_view>

#include "base/json_forward.hpp"

namespace auspex::models {

/// Sets the flag of each word that the list has. Throws InputError for another word, and for one that is there twice.
void set_flags(const JsonValue& list, std::initializer_list<std::string_view> words,
               std::initializer_list<bool*> flags);

}  // namespace auspex::models
