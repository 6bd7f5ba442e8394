#pragma once
/// @file The parts of a step's time in words.
#include <string>

#include "schedule/losses.hpp"

namespace auspex::report {

/// The loss as tables and pictures name it: "exposed dp" for exposed_dp.
[[nodiscard]] std::string readable(schedule::Loss loss);
/// The loss in a sentence: "data-parallel communication".
[[nodiscard]] const char* plain_name(schedule::Loss loss);
/// What a part has changed by, in seconds: signed, and 0 for less than a nanosecond, which is rounding.
[[nodiscard]] std::string change_text(double seconds);
/// A share of the step as people say it: "a third", "half", else "12 %". Fractions stand for what is within one and a
/// half per cent of the whole.
[[nodiscard]] std::string share_in_words(double share);

}  // namespace auspex::report
