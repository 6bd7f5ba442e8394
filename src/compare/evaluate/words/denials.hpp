#pragma once
/// @file Whether a text says a word or denies it: one reader for all words of published cases.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace auspex::evaluate {

/// "none", "no", "off" and the like, which deny what they stand for or in front of.
[[nodiscard]] bool is_denial(std::string_view word);

/// What lies at text[begin, end) is denied: by letters or one of the two words in front of it ("uncompiled",
/// "non-interleaved", "not yet compiled", "without torch.compile"), or by the word behind it ("compile=False",
/// "compile (off)", "FP8 not used", "FP8 attention off"). Commas, semicolons, brackets, +, "and", "but" and "with" part
/// what denies from what is not denied.
[[nodiscard]] bool is_denied(std::string_view text, std::size_t begin, std::size_t end);

enum class Said : std::uint8_t { kNot, kYes, kDenied };
/// Whether the text has the word (or what begins so), in any case: kYes where it does not deny it at least once.
[[nodiscard]] Said said_of(std::string_view text, std::string_view word);
/// The same, kYes.
[[nodiscard]] bool says(std::string_view text, std::string_view word);
/// A text about a subject that denies it as a whole ("none (blocking)", "no overlap", "false"), or by name ("overlap
/// off").
[[nodiscard]] bool denies(std::string_view text, std::string_view subject);

}  // namespace auspex::evaluate
