#pragma once
/// @file Numbers and strings as the reports print them: one place for digits, separators and escaping.
#include <string>
#include <string_view>

namespace auspex {

/// The five characters that mean something in HTML text and attributes, as entities; control characters become spaces.
[[nodiscard]] std::string html_escape(std::string_view text);
/// Text for a Markdown table cell or paragraph: no character of it is markup, no line break survives.
[[nodiscard]] std::string markdown_escape(std::string_view text);

/// 12288 -> "12,288"; a double is rounded to the nearest integer.
[[nodiscard]] std::string thousands(double value);
/// "1 tile", "12,288 tiles", "2 micro-batches".
[[nodiscard]] std::string counted(double count, std::string_view thing, std::string_view plural_ending = "s");
/// Fixed decimals, no separators: coordinates and percentages.
[[nodiscard]] std::string fixed(double value, int decimals);
/// 3 significant digits: 10.24 -> "10.2", 0.012345 -> "0.0123", 12345 -> "12,345" (digits left of the point all kept);
/// an exponent only below 1e-5.
[[nodiscard]] std::string significant(double value, int digits = 3);
/// 0.8994 -> "89.9 %".
[[nodiscard]] std::string percent(double fraction, int decimals = 1);
/// Seconds with a unit fit for reading: "10.2 s", "34.5 ms", "12.0 us".
[[nodiscard]] std::string duration(double seconds);
/// A change, always with its sign: +0.412, −0.0310, 0.
[[nodiscard]] std::string signed_significant(double value, int digits = 3);
/// 6291456 -> "6.29 M": plain count with a power-of-1000 suffix (k, M, G, T).
[[nodiscard]] std::string short_count(double value);
/// The same without trailing zeros, for the round values of an axis: "5 M", "1.25 M".
[[nodiscard]] std::string tick_count(double value);
/// Decimals that tell apart values which are `step` from each other: 0 for 20, 1 for 0.5.
[[nodiscard]] int decimals_of_step(double step);

}  // namespace auspex
