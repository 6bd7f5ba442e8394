#pragma once
/// @file A text to learn from, for those who bring none.
#include <cstddef>
#include <string>

namespace auspex::workflows {

/// Sentences of made-up regularity: which word follows depends on the last one and on chance. Equal for equal
/// arguments; at least `bytes` long.
[[nodiscard]] std::string synthetic_text(std::size_t bytes, std::uint64_t seed);

}  // namespace auspex::workflows
