#pragma once
/// @file Times and counts of campaigns, which may be infinite, and what forms say of them, in words.
#include <string>

#include "campaign/finish/expected_finish.hpp"

namespace auspex::report {

/// "11.2 d", "never" where it is infinite.
[[nodiscard]] std::string span_words(double seconds);
/// "22,131", "no end".
[[nodiscard]] std::string count_words(double count);

/// "longer closed form, with most of that: 6.38 d (-0.2 %); not in it: recoveries are not interrupted". Requires finite
/// times.
[[nodiscard]] std::string whole_run_words(const campaign::ExpectedFinish& expected, double played_s);

}  // namespace auspex::report
