#pragma once
/// @file Times and dates of a campaign in words.
#include <string>

namespace auspex::cli {

/// "11.2 d", "never" where it is infinite.
[[nodiscard]] std::string span_words(double seconds);
/// "22,131", "no end".
[[nodiscard]] std::string count_words(double count);

/// "2027-01-01" in days since 1970. Throws InputError that names the flag.
[[nodiscard]] double day_of(const char* flag, const std::string& date);
/// "2027-03-09": so long after the begin of the day `start`.
[[nodiscard]] std::string date_after(const std::string& start, double seconds);

}  // namespace auspex::cli
