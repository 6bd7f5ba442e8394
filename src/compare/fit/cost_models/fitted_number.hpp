#pragma once
/// @file Numbers of a machine file, each with its interval and provenance; what follows from one or two of them.
#include <span>
#include <string>

#include "base/constant.hpp"
#include "base/statistics/interval.hpp"

namespace auspex::fit {

/// An estimate with its 95 % confidence interval (base/statistics/bootstrap.hpp); `how` says what it was made from. Of
/// one that is assumed low and high are assumed, too; of one that is specified they are the value.
struct FittedNumber : Estimate {
    ConstantKind kind = ConstantKind::kFitted;
    std::string how;
};

/// One standard deviation over the value, as a machine file gives it: sigma_of_95 of its interval, at least 0.5 %, at
/// most 10. Of a zero 0: nothing can be a share of it, and nothing is scaled with it.
[[nodiscard]] double relative_uncertainty(const FittedNumber& number);

/// An estimate that a fit gave.
[[nodiscard]] FittedNumber fitted(const Estimate& estimate, const std::string& how);
/// Median of values that are 0 or above, with interval_of_median.
[[nodiscard]] FittedNumber median_of(std::span<const double> values, ConstantKind kind, const std::string& how);
/// A multiple or share of a number, its interval likewise.
[[nodiscard]] FittedNumber scaled(FittedNumber number, double factor);
/// Sums and differences (0 at least) of numbers whose errors are independent: reaches of intervals add as squares.
/// Derived, from `how`.
[[nodiscard]] FittedNumber sum_of(const FittedNumber& a, const FittedNumber& b, const std::string& how);
[[nodiscard]] FittedNumber difference_of(const FittedNumber& a, const FittedNumber& b, const std::string& how);
/// 1 / number, what is below 1e-14 taken for that; up to ten times the value where the interval begins at 0.
[[nodiscard]] FittedNumber inverse_of(const FittedNumber& number, ConstantKind kind, const std::string& how);

}  // namespace auspex::fit
