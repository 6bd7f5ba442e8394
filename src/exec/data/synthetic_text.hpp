#pragma once
/// @file A text to learn from, for those who bring none, and a dataset of it.
#include <cstddef>
#include <cstdint>
#include <string>

namespace auspex::exec {

/// Sentences of made-up regularity: which word follows depends on the last one and on chance. Equal for equal
/// arguments; at least `bytes` long.
[[nodiscard]] std::string synthetic_text(std::size_t bytes, std::uint64_t seed);

/// FOLDER/data: rows of such a text, of byte pairs where a vocabulary has room for any. Returns that folder's name.
/// Throws InputError where it cannot be written.
[[nodiscard]] std::string make_synthetic_dataset(int vocabulary, int sequence_length, const std::string& folder);

}  // namespace auspex::exec
