#pragma once
/// @file Quantities written by people ("185 GB/s", "350 ns", "205 TF/s") to SI doubles and back.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace auspex {

/// What a quantity measures. SI inside: bytes, seconds, FLOP, watts. Units accepted (case matters):
///   kBytes           B KB MB GB TB PB (powers of 1000), KiB MiB GiB TiB (powers of 1024)
///   kBytesPerSecond  the same with "/s"
///   kFlopPerSecond   F/s KF/s MF/s GF/s TF/s PF/s EF/s, also TFLOP/s and the like
///   kSeconds         ps ns us ms s min h d        kPerSecond  1/s Hz kHz MHz GHz, 1/min, 1/h
///   kWatts           W kW MW                       kNone       a plain JSON number, no unit
///   kCount           none, or k M B T (powers of 1000): things that are counted, such as tokens
enum class Dimension { kNone, kBytes, kBytesPerSecond, kFlopPerSecond, kSeconds, kPerSecond, kWatts, kCount };

/// Parses "<number><optional space><unit>" strictly. `where` names file and path in the error.
/// Throws InputError for a missing or wrong unit, a non-finite number, trailing text.
[[nodiscard]] double parse_quantity(std::string_view text, Dimension dimension, const std::string& where,
                                    const char* example = nullptr);

/// The shortest text with a readable unit, three or four significant digits: 1.51e8 bytes -> "151 MB".
[[nodiscard]] std::string format_quantity(double value, Dimension dimension);

/// Six digits and the largest unit that is not larger than the value, the smallest for what is below all:
/// "205.3 TF/s", "15.8 GB/s", "300 ns"; bytes are whole, "33554432 B"; a plain number without a dimension.
[[nodiscard]] std::string in_unit(double value, Dimension dimension);

/// The units that these two write, with the SI value of one of each: {"GB/s", 1e9}. None of kNone.
[[nodiscard]] std::vector<std::pair<std::string, double>> readable_units(Dimension dimension);

/// Text that parse_quantity reads back to exactly `value`: "%.17g" and the base unit.
[[nodiscard]] std::string exact_quantity(double value, Dimension dimension);

/// The base unit's name ("B/s") and an example of what is accepted ("25 GB/s"), for error messages.
[[nodiscard]] const char* base_unit(Dimension dimension);
[[nodiscard]] const char* example_of(Dimension dimension);

}  // namespace auspex
