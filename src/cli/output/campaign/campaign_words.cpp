/// @file Dates as people read them.
#include "cli/output/campaign/campaign_words.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/error.hpp"
#include "cli/flags/flag_numbers.hpp"

namespace auspex::cli {

double day_of(const char* flag, const std::string& date) {
    int year = 0;
    unsigned month = 0, day = 0;
    const bool reads = date.size() == 10 && date[4] == '-' && date[7] == '-' && reads_as(date.substr(0, 4), year) &&
                       reads_as(date.substr(5, 2), month) && reads_as(date.substr(8), day);
    const std::chrono::year_month_day when{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
    if (!reads || !when.ok()) {
        throw InputError(flag, "found \"" + date + "\"; expected a date, such as 2027-03-01");
    }
    return static_cast<double>(std::chrono::sys_days(when).time_since_epoch().count());
}

std::string date_after(const std::string& start, double seconds) {
    constexpr double kDay = 86'400;
    const auto days = static_cast<int>(day_of("--start", start) + std::floor(seconds / kDay));
    const std::chrono::year_month_day when{std::chrono::sys_days(std::chrono::days(days))};
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(when.year()),
                  static_cast<unsigned>(when.month()), static_cast<unsigned>(when.day()));
    return text.data();
}

}  // namespace auspex::cli
