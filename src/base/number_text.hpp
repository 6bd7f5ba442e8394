#pragma once
/// @file Numbers as people read them: digits, separators, suffixes.
#include <string>
#include <string_view>

namespace auspex {

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
/// A relative difference, always with its sign: 0.031 -> "+3.1 %".
[[nodiscard]] std::string signed_percent(double fraction);
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

/// "0.859", "1.25e-05", "12": six digits at most.
[[nodiscard]] std::string six_digits(double number);

}  // namespace auspex
