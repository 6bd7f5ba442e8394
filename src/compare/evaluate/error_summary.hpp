#pragma once
/// @file What many errors come to.
#include <vector>

namespace auspex::evaluate {

/// Of n errors, each predicted / measured - 1; all 0 where there is none.
struct ErrorSummary {
    int n = 0;
    double mean_error = 0;        ///< with its sign: below 0 where predictions are too short
    double median_error = 0;      ///< with its sign
    double median_abs_error = 0;  ///< of |error|
    double p90_abs_error = 0;     ///< of |error|, 90 % are no larger
    double max_abs_error = 0;
};
[[nodiscard]] ErrorSummary summary_of(const std::vector<double>& errors);

}  // namespace auspex::evaluate
