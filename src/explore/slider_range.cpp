/// @file Ranges by value and dimension.
#include "explore/slider_range.hpp"

#include <algorithm>

namespace auspex::explore {
namespace {

/// Of constants of a dimension that are switched off in the file.
double usual_most(Dimension dimension) {
    switch (dimension) {
        case Dimension::kNone: return 1;
        case Dimension::kBytes: return 1e9;
        case Dimension::kBytesPerSecond: return 1e11;
        case Dimension::kFlopPerSecond: return 1e15;
        case Dimension::kSeconds: return 1e-4;
        case Dimension::kPerSecond: return 1e3;
        case Dimension::kWatts: return 1e3;
        case Dimension::kCount: return 1e6;
    }
    return 1;
}

}  // namespace

SliderRange slider_range(const Constant& constant) {
    constexpr double kTimes = 10;
    if (constant.dimension == Dimension::kNone && constant.low >= 0 && constant.high <= 1) {
        return {constant.low, constant.high, false};
    }
    if (constant.value > 0) {
        return {std::max(constant.low, constant.value / kTimes), std::min(constant.high, constant.value * kTimes),
                true};
    }
    return {std::max(0.0, constant.low), std::min(constant.high, usual_most(constant.dimension)), false};
}

}  // namespace auspex::explore
