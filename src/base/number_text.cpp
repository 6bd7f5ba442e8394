/// @file Digits and separators.
#include "base/number_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/error.hpp"

namespace auspex {
namespace {

/// Digits left of the decimal point of |value|: 1 for 3.2, -1 for 0.032 (leading zeros after the point count down from
/// 0).
int magnitude(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1; }

std::string with_separators(const std::string& digits) {
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const bool after_digit = i > 0 && digits[i - 1] != '-';
        if (after_digit && (digits.size() - i) % 3 == 0) {
            out += ',';
        }
        out += digits[i];
    }
    return out;
}

struct Scaled {
    double value = 0;
    const char* suffix = "";
};

Scaled scale_by_thousands(double value) {
    constexpr std::array<const char*, 5> kSuffixes{"", " k", " M", " G", " T"};
    std::size_t index = 0;
    while (std::abs(value) >= 999.5 && index + 1 < kSuffixes.size()) {
        value /= 1000;
        ++index;
    }
    return {value, kSuffixes[index]};
}

}  // namespace

std::string fixed(double value, int decimals) {
    if (!std::isfinite(value)) {
        return "–";
    }
    std::array<char, 400> buffer{};  // DBL_MAX has 309 digits before the point
    const auto [end, error] =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
    AUSPEX_CHECK(error == std::errc{}, "a double with few decimals fits in 400 characters");
    std::string text(buffer.data(), end);
    // -0.0 and -0.00 are noise to a reader.
    if (text[0] == '-' && text.find_first_of("123456789") == std::string::npos) {
        text.erase(0, 1);
    }
    return text;
}

std::string thousands(double value) { return std::isfinite(value) ? with_separators(fixed(value, 0)) : "–"; }

std::string counted(double count, std::string_view thing, std::string_view plural_ending) {
    return thousands(count) + " " + std::string(thing) + (count == 1 ? "" : std::string(plural_ending));
}

std::string significant(double value, int digits) {
    if (!std::isfinite(value)) {
        return "–";
    }
    if (value == 0) {
        return "0";
    }
    if (std::abs(value) < 1e-5) {  // nobody counts more zeros than that
        std::array<char, 32> buffer{};
        const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::scientific, digits - 1);
        return {buffer.data(), result.ptr};
    }
    int decimals = std::max(0, digits - magnitude(value));
    // 9.996 has one more digit once rounded to three: 10.0, not 10.00.
    const double rounded = std::round(value * std::pow(10.0, decimals)) / std::pow(10.0, decimals);
    decimals = std::max(0, digits - magnitude(rounded));
    return decimals == 0 ? thousands(value) : fixed(value, decimals);
}

std::string percent(double fraction, int decimals) {
    return std::isfinite(fraction) ? fixed(fraction * 100, decimals) + " %" : "–";
}

std::string signed_percent(double fraction) { return (fraction >= 0 ? "+" : "") + percent(fraction); }

std::string duration(double seconds) {
    const double size = std::abs(seconds);
    if (size == 0 || size >= 0.9995) {
        return significant(seconds) + " s";
    }
    return size >= 0.9995e-3 ? significant(seconds * 1e3) + " ms" : significant(seconds * 1e6) + " us";
}

std::string signed_significant(double value, int digits) {
    if (value == 0 || !std::isfinite(value)) {
        return significant(value, digits);
    }
    return (value > 0 ? "+" : "−") + significant(std::abs(value), digits);
}

std::string short_count(double value) {
    const auto [scaled, suffix] = scale_by_thousands(value);
    return significant(scaled) + suffix;
}

std::string tick_count(double value) {
    const auto [scaled, suffix] = scale_by_thousands(value);
    std::array<char, 32> buffer{};
    const auto result =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), scaled, std::chars_format::general, 3);
    return std::string(buffer.data(), result.ptr) + suffix;
}

int decimals_of_step(double step) { return std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9))); }

std::string six_digits(double number) {
    std::array<char, 32> text{};
    static_cast<void>(std::snprintf(text.data(), text.size(), "%.6g", number));
    return text.data();
}

}  // namespace auspex
