#pragma once
/// @file Numbers as machine files have them.
#include <string>

#include "base/units.hpp"

namespace auspex {

/// "0.859", "1.25e-05": six digits.
[[nodiscard]] std::string six_digits(double number);

/// Six digits and the largest unit that is not larger than the value, the smallest for what is below all:
/// "205.3 TF/s", "15.8 GB/s", "300 ns"; bytes are whole, "33554432 B"; a plain number without a dimension.
[[nodiscard]] std::string in_unit(double value, Dimension dimension);

}  // namespace auspex
