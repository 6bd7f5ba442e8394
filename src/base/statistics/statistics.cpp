/// @file Ranges of few values, quartiles of more; rank agreement, pair by pair.
#include "base/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/statistics/distributions.hpp"

namespace auspex {
namespace {

int sign_of(double difference) { return difference > 0 ? 1 : difference < 0 ? -1 : 0; }

}  // namespace

std::optional<double> relative_noise(std::span<const double> values) {
    constexpr std::size_t kMin = 2, kFew = 5;
    if (values.size() < kMin) {
        return std::nullopt;
    }
    if (values.size() > kFew) {
        return relative_spread(values);
    }
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const double middle = median(values);
    return middle > 0 ? (*most - *least) / mean_normal_range(static_cast<int>(values.size())) / middle : 0;
}

RankAgreement kendall_tau(std::span<const double> a, std::span<const double> b, double least_ln_ratio) {
    AUSPEX_CHECK(a.size() == b.size(), "two values for each case");
    RankAgreement agreement;
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = i + 1; j < a.size(); ++j) {
            if (std::abs(std::log(a[i] / a[j])) > least_ln_ratio) {
                ++agreement.pairs;
                sum += sign_of(a[i] - a[j]) * sign_of(b[i] - b[j]);
            }
        }
    }
    agreement.tau = agreement.pairs > 0 ? sum / agreement.pairs : 1;
    return agreement;
}

double regret_of_predicted_best(std::span<const double> measured, std::span<const double> predicted) {
    AUSPEX_CHECK(!measured.empty() && measured.size() == predicted.size(), "a prediction for each case");
    const auto chosen = std::min_element(predicted.begin(), predicted.end()) - predicted.begin();
    return measured[static_cast<std::size_t>(chosen)] / *std::min_element(measured.begin(), measured.end()) - 1;
}

}  // namespace auspex
