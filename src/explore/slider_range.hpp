#pragma once
/// @file How far a slider goes.
#include "base/constant.hpp"

namespace auspex::explore {

struct SliderRange {
    double from = 0, to = 0;
    bool is_logarithmic = false;
};

/// Fractions: all that the file may say. What is above 0: from a tenth to ten times, as far as the file may. What is 0:
/// from 0 to what such constants are at most in practice. from <= value <= to.
[[nodiscard]] SliderRange slider_range(const Constant& constant);

}  // namespace auspex::explore
