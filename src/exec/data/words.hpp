#pragma once
/// @file Where text may be cut before it is tokenised: merges never cross these cuts.
#include <cstddef>
#include <string_view>

namespace auspex::exec {

/// Longest word in bytes; a longer run is cut, so that no input makes tokenising slow.
inline constexpr std::size_t kLongestWord = 256;

/// Length of the first word of a text that is not empty: a run of letters (every byte above 127 counts as one), of
/// digits, or of other characters, each with one space in front of it if there is one; or a run of white space, less
/// the one space that the next word takes. A simplification of GPT-2's pattern: no contractions, no Unicode classes.
/// Words in order give back the text.
[[nodiscard]] std::size_t first_word_length(std::string_view text);

}  // namespace auspex::exec
