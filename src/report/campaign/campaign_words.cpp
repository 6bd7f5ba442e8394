/// @file What has no end has a word.
#include "report/campaign/campaign_words.hpp"

#include <cmath>

#include "base/number_text.hpp"
#include "base/units.hpp"

namespace auspex::report {

std::string span_words(double seconds) {
    return std::isfinite(seconds) ? format_quantity(seconds, Dimension::kSeconds) : "never";
}

std::string count_words(double count) { return std::isfinite(count) ? thousands(count) : "no end"; }

std::string whole_run_words(const campaign::ExpectedFinish& expected, double played_s) {
    std::string out = "longer closed form, with most of that: " + span_words(expected.elapsed_s) + " (" +
                      signed_percent(expected.elapsed_s / played_s - 1) + ")";
    for (const std::string& what : expected.left_out) {
        out += (&what == &expected.left_out.front() ? "; not in it: " : ", ") + what;
    }
    return out;
}

}  // namespace auspex::report
