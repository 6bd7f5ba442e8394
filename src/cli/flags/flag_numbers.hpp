#pragma once
/// @file Numbers given behind flags, read strictly.
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace auspex::cli {

/// For numbers that are to be above zero.
inline constexpr double kLeastPositive = std::numeric_limits<double>::denorm_min();
inline constexpr double kLargestNumber = std::numeric_limits<double>::max();

/// True if all of the text is a number of this type, which it then is.
template <typename Number>
[[nodiscard]] bool reads_as(std::string_view text, Number& number) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    return status == std::errc() && end == text.data() + text.size();
}

/// Throws InputError that names the flag as it was written ("--seed", "-n"), the text and what is expected, unless
/// low <= number <= high.
template <typename Number>
[[nodiscard]] Number parse_number_of(const std::string& written, const std::string& text, Number low, Number high,
                                     const std::string& expected) {
    Number number{};
    if (!reads_as(text, number) || !(number >= low && number <= high)) {
        throw InputError(written, "found \"" + text + "\"; expected " + expected);
    }
    return number;
}

/// The same of a flag by its name ("seed").
template <typename Number>
[[nodiscard]] Number parse_number(const char* flag, const std::string& text, Number low, Number high,
                                  const std::string& expected) {
    return parse_number_of(std::string("--") + flag, text, low, high, expected);
}

[[nodiscard]] inline int parse_whole_of(const std::string& written, const std::string& text, int low, int high) {
    return parse_number_of(written, text, low, high,
                           "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

[[nodiscard]] inline int parse_whole(const char* flag, const std::string& text, int low, int high) {
    return parse_whole_of(std::string("--") + flag, text, low, high);
}

[[nodiscard]] inline std::uint64_t parse_seed(const std::string& text) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    return parse_number<std::uint64_t>("seed", text, 0, kMax, "a whole number of at most 64 bits");
}

}  // namespace auspex::cli
