#pragma once
/// @file Values of --vary WORD=FROM:TO:N.
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace auspex::cli {

/// N values of what WORD names; times are in seconds.
struct Range {
    std::string what;
    double from = 0, to = 0;
    int count = 0;
};

/// Throws InputError for a word that is not among `words`, and for what is no range from 2 to 100 values upwards;
/// `form`: what is expected.
[[nodiscard]] Range read_range(const std::string& text, std::initializer_list<std::string_view> words,
                               const std::string& form);

/// Intervals and nodes by equal factors, others by equal steps; counts are whole, each once.
[[nodiscard]] std::vector<double> values_of(const Range& range);

}  // namespace auspex::cli
