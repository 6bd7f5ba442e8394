/// @file A table of ranges.
#include "base/distributions.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "base/error.hpp"

namespace auspex {

double mean_normal_range(int count) {
    AUSPEX_CHECK(count >= 2, "a range of at least two values");
    constexpr std::array kRanges{1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970, 3.078};  // of 2 to 10
    constexpr double kMore = 0.9;
    const auto place = static_cast<std::size_t>(count - 2);
    return place < kRanges.size() ? kRanges.at(place) : kRanges.back() + kMore * std::log(count / 10.0);
}

}  // namespace auspex
