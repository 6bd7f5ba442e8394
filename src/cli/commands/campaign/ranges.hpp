#pragma once
/// @file Values of WORD=FROM:TO:N, as --vary and --optimise have them.
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

/// `flag`: that it is of, for errors. Throws InputError for a word that is not among `words`, and for what is no range
/// from 2 to 100 values upwards; `form`: what is expected.
[[nodiscard]] Range read_range(const std::string& flag, const std::string& text,
                               std::initializer_list<std::string_view> words, const std::string& form);

/// Intervals and nodes by equal factors, others by equal steps; counts are whole, each once.
[[nodiscard]] std::vector<double> values_of(const Range& range);
/// "30 min", "1,024".
[[nodiscard]] std::string value_text(const std::string& what, double value);

}  // namespace auspex::cli
