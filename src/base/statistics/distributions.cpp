/// @file Quantiles by Boost.Math; a table of ranges.
#include "base/statistics/distributions.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstddef>

#include "base/error.hpp"

namespace auspex {

double normal_quantile(double p) {
    AUSPEX_CHECK(p > 0 && p < 1, "a quantile between the ends of a distribution that has none");
    return boost::math::quantile(boost::math::normal_distribution<>(), p);
}

double normal_reach(double share) { return normal_quantile((1 + share) / 2); }

double student_95(int degrees) {
    constexpr double kBelow = 0.975;
    return boost::math::quantile(boost::math::students_t_distribution<>(std::max(1, degrees)), kBelow);
}

double mean_normal_range(int count) {
    AUSPEX_CHECK(count >= 2, "a range of at least two values");
    constexpr std::array kRanges{1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970, 3.078};  // of 2 to 10
    constexpr double kMore = 0.9;
    const auto place = static_cast<std::size_t>(count - 2);
    return place < kRanges.size() ? kRanges.at(place) : kRanges.back() + kMore * std::log(count / 10.0);
}

}  // namespace auspex
