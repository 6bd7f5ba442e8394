#pragma once
/// @file Times and counts of campaigns, which may be infinite, in words.
#include <string>

namespace auspex::report {

/// "11.2 d", "never" where it is infinite.
[[nodiscard]] std::string span_words(double seconds);
/// "22,131", "no end".
[[nodiscard]] std::string count_words(double count);

}  // namespace auspex::report
