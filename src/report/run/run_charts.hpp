#pragma once
/// @file Bars of a run beside its prediction.
#include <string>

#include "compare/kineto/account/run_diff.hpp"

namespace auspex::report {

/// Inline SVG: two bars a part of the step, measured above predicted.
[[nodiscard]] std::string spent_bars(const kineto::RunDiff& diff, double width);

}  // namespace auspex::report
