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

}  // namespace auspex::report
