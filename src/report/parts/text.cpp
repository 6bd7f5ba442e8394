/// @file Digits, separators and escapes.
#include "report/parts/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.hpp"

namespace auspex {

namespace {

const char* html_entity(char c) {
    switch (c) {
        case '&': return "&amp;";
        case '<': return "&lt;";
        case '>': return "&gt;";
        case '"': return "&quot;";
        case '\'': return "&#39;";
        default: return nullptr;
    }
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

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

std::string html_escape(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (const char c : text) {
        if (const char* entity = html_entity(c)) {
            out += entity;
        } else {
            out += is_control(c) && c != '\n' ? ' ' : c;
        }
    }
    return out;
}

std::string markdown_escape(std::string_view text) {
    constexpr std::string_view kMarkup = "\\`*_{}[]<>#|~$";
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (const char c : text) {
        if (c == '&') {
            out += "&amp;";
        } else if (kMarkup.find(c) != std::string_view::npos) {
            out += '\\';
            out += c;
        } else {
            out += is_control(c) ? ' ' : c;
        }
    }
    return out;
}

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

}  // namespace auspex
