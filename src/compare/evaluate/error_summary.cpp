/// @file Mean and quantiles of errors and of their sizes.
#include "compare/evaluate/error_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics/quantiles.hpp"

namespace auspex::evaluate {

ErrorSummary summary_of(const std::vector<double>& errors) {
    if (errors.empty()) {
        return {};
    }
    constexpr double kPercentile = 0.9;
    std::vector<double> sizes(errors.size());
    std::ranges::transform(errors, sizes.begin(), [](double error) { return std::abs(error); });
    return {static_cast<int>(errors.size()),
            std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size()),
            median(errors),
            median(sizes),
            quantile(sizes, kPercentile),
            std::ranges::max(sizes)};
}

}  // namespace auspex::evaluate
