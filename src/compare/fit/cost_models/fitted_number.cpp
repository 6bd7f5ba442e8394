/// @file Errors of numbers that others give.
#include "compare/fit/cost_models/fitted_number.hpp"

#include <algorithm>
#include <cmath>

#include "base/statistics/bootstrap.hpp"
#include "base/statistics/quantiles.hpp"

namespace auspex::fit {

double relative_uncertainty(const FittedNumber& number) {
    constexpr double kMin = 0.005, kMax = 10;
    if (number.value == 0) {
        return 0;
    }
    return std::clamp(sigma_of_95(number.interval()) / number.value, kMin, kMax);
}

FittedNumber fitted(const Estimate& estimate, const std::string& how) { return {estimate, ConstantKind::kFitted, how}; }

FittedNumber median_of(std::span<const double> values, ConstantKind kind, const std::string& how) {
    const Interval interval = interval_of_median(values);
    return {{median(values), interval.low, interval.high}, kind, how};
}

FittedNumber scaled(FittedNumber number, double factor) {
    number.value *= factor;
    number.low *= factor;
    number.high *= factor;
    return number;
}

FittedNumber sum_of(const FittedNumber& a, const FittedNumber& b, const std::string& how) {
    const double value = a.value + b.value;
    return {{value, std::max(0.0, value - std::hypot(a.value - a.low, b.value - b.low)),
             value + std::hypot(a.high - a.value, b.high - b.value)},
            ConstantKind::kDerived,
            how};
}

FittedNumber difference_of(const FittedNumber& a, const FittedNumber& b, const std::string& how) {
    const double value = a.value - b.value;
    return {{std::max(0.0, value), std::max(0.0, value - std::hypot(a.value - a.low, b.high - b.value)),
             std::max(0.0, value + std::hypot(a.high - a.value, b.value - b.low))},
            ConstantKind::kDerived,
            how};
}

FittedNumber inverse_of(const FittedNumber& number, ConstantKind kind, const std::string& how) {
    constexpr double kMin = 1e-14, kMinOfValue = 0.1;
    const auto inverse = [](double value) { return 1 / (value > kMin ? value : kMin); };
    const double low = std::max(number.low, kMinOfValue * number.value);
    return {{inverse(number.value), inverse(number.high), inverse(low)}, kind, how};
}

}  // namespace auspex::fit
