#pragma once
/// @file The middle of a few ratios among which some are of something else.
#include <cstddef>
#include <optional>
#include <vector>

namespace auspex::kineto {

struct WeightedValue {
    double value = 0, weight = 1;
    std::size_t kind = 0;  ///< what it is of: all of a kind may be off together
};

struct Middle {
    double value = 0;
    /// The larger of 1.4826 times the weighted median of |value - middle|, a standard deviation of the bulk, and of
    /// the farthest that leaving out one kind moves the middle: where one kind has most of the weight the first is 0.
    double spread = 0;
    std::optional<std::size_t> leans_on;  ///< that kind, where the second is larger
};

/// Huber's weighted mean, by repeated weighting from the weighted median: values within 1.345 spreads count whole,
/// farther ones less the farther they are. Requires at least one value, and weights above 0.
[[nodiscard]] Middle robust_middle(const std::vector<WeightedValue>& values);

}  // namespace auspex::kineto
