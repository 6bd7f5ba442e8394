#pragma once
/// @file Words of cases: taken apart, looked for, refused.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auspex::evaluate {

inline constexpr std::size_t kLongestText =
    1000;  ///< that forms are looked for in: std::regex recurses with its length

/// Of ASCII, whatever the locale says.
[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_small_letter(char c) { return c >= 'a' && c <= 'z'; }
[[nodiscard]] constexpr bool is_letter_or_digit(char c) { return is_small_letter(c) || is_digit(c); }  // small ones

/// In small letters, what lies between blanks, hyphens, brackets and the like: "Core-attn (mla_up_proj, 5)" is core,
/// attn, mla_up_proj, 5.
[[nodiscard]] std::vector<std::string> words_in(std::string_view text);
[[nodiscard]] bool has(std::string_view text, std::string_view part);
/// One of the parts is somewhere in the text; no parts: true.
[[nodiscard]] bool contains_any(std::string_view text, const std::vector<std::string>& parts);
[[nodiscard]] bool is_one_of(std::string_view word, const std::vector<std::string_view>& words);
/// Where the word is digits.
[[nodiscard]] std::optional<int> number_in(std::string_view word);
/// The first number from words[begin] on.
[[nodiscard]] std::optional<int> number_from(const std::vector<std::string>& words, std::size_t begin);

/// Empty, "not stated", "see recipe", "unknown", "n/a" and the like.
[[nodiscard]] bool is_unstated(std::string_view text);

/// `"A", "B"`, each once.
[[nodiscard]] std::string quoted_list(const std::vector<std::string>& words);

/// Throws InputError, which names the case.
[[noreturn]] void refuse(const std::string& id, const std::string& found, const std::string& expected);

}  // namespace auspex::evaluate
