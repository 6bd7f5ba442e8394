#pragma once
/// @file Pictures of a comparison of measured and predicted step times.
#include <string>

#include "compare/evaluate/comparison.hpp"
#include "report/parts/picture.hpp"

namespace auspex::report {

/// Predicted against measured step times on logarithmic axes, with bands of 5 and 12 %; a workload has a colour and a
/// shape. Requires a case.
[[nodiscard]] std::string step_scatter(const evaluate::Comparison& comparison, double width = kPagePicture);

/// Measured and predicted time of the operations that take most, summed over layouts. Requires operations.
[[nodiscard]] std::string operation_bars(const evaluate::Comparison& comparison, double width = kPagePicture);

}  // namespace auspex::report
