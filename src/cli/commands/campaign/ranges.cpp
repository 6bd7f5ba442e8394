/// @file Ranges of --vary and --optimise.
#include "cli/commands/campaign/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "cli/flags/flag_numbers.hpp"

namespace auspex::cli {
namespace {

bool is_time(const std::string& what) { return what == "interval" || what == "walltime"; }

double read_value(const std::string& where, const std::string& what, const std::string& text) {
    if (is_time(what)) {
        const double seconds = parse_quantity(text, Dimension::kSeconds, where, "30 min");
        if (!(seconds > 0)) {
            throw InputError(where, "found \"" + text + "\"; expected more than zero, such as 30min");
        }
        return seconds;
    }
    return parse_whole_of(where, text, what == "nodes" ? 1 : 0, 1'000'000);
}

}  // namespace

Range read_range(const std::string& flag, const std::string& text, std::initializer_list<std::string_view> words,
                 const std::string& form) {
    constexpr int kMost = 100;
    const std::size_t equals = text.find('=');
    Range range{text.substr(0, equals)};
    std::vector<std::string> parts;
    if (equals != std::string::npos) {
        std::istringstream stream(text.substr(equals + 1) + ":");
        for (std::string part; std::getline(stream, part, ':');) {
            parts.push_back(part);
        }
    }
    if (std::ranges::find(words, range.what) == words.end() || parts.size() != 3) {
        throw InputError(flag, "found \"" + text + "\"; expected " + form);
    }
    const std::string where = flag + " " + range.what;
    range.from = read_value(where, range.what, parts[0]);
    range.to = read_value(where, range.what, parts[1]);
    range.count = parse_whole_of(where, parts[2], 2, kMost);
    if (!(range.to > range.from)) {
        throw InputError(flag, "found \"" + text + "\"; expected a last value above the first");
    }
    return range;
}

std::vector<double> values_of(const Range& range) {
    const bool is_by_factors = range.from > 0 && (range.what == "interval" || range.what == "nodes");
    std::vector<double> values;
    for (int i = 0; i < range.count; ++i) {
        const double share = static_cast<double>(i) / (range.count - 1);
        const double value = is_by_factors ? range.from * std::pow(range.to / range.from, share)
                                           : std::lerp(range.from, range.to, share);
        values.push_back(is_time(range.what) ? value : std::round(value));
    }
    const auto [first, last] = std::ranges::unique(values);
    values.erase(first, last);
    return values;
}

std::string value_text(const std::string& what, double value) {
    return is_time(what) ? format_quantity(value, Dimension::kSeconds) : thousands(value);
}

}  // namespace auspex::cli
