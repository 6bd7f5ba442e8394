#pragma once
/// @file Dates of a campaign.
#include <string>

namespace auspex::cli {

/// "2027-01-01" in days since 1970. Throws InputError that names the flag.
[[nodiscard]] double day_of(const char* flag, const std::string& date);
/// "2027-03-09": so long after the begin of the day `start`.
[[nodiscard]] std::string date_after(const std::string& start, double seconds);

}  // namespace auspex::cli
