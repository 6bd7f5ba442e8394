#pragma once
/// @file Lengths of time that are not always the same: waits in a queue, repairs.
#include <cmath>

#include "base/rng.hpp"
#include "campaign/quantities.hpp"

namespace auspex::campaign {

/// Log-normal, `sigma` the standard deviation of the logarithm. Nothing is drawn where it is 0.
[[nodiscard]] inline Nanoseconds drawn_length(double median_s, double sigma, Rng& rng) {
    return to_nanoseconds(sigma > 0 ? median_s * std::exp(sigma * rng.normal()) : median_s);
}

/// Its mean: median e^(sigma^2 / 2).
[[nodiscard]] inline double mean_length_s(double median_s, double sigma) {
    return median_s * std::exp(sigma * sigma / 2);
}

}  // namespace auspex::campaign
