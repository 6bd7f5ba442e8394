#pragma once
/// @file The middle of a few ratios among which some are of something else.
#include <vector>

namespace auspex::kineto {

struct WeightedValue {
    double value = 0, weight = 1;
};

struct Middle {
    double value = 0;
    double spread = 0;  ///< 1.4826 times the weighted median of |value - middle|: a standard deviation of the bulk
};

/// Huber's weighted mean, by repeated weighting from the weighted median: values within 1.345 spreads count whole,
/// farther ones less the farther they are. Requires at least one value, and weights above 0.
[[nodiscard]] Middle robust_middle(std::vector<WeightedValue> values);

}  // namespace auspex::kineto
