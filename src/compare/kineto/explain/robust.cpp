/// @file Huber's mean.
#include "compare/kineto/explain/robust.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "base/error.hpp"

namespace auspex::kineto {
namespace {

double weighted_median(std::vector<WeightedValue>& values) {
    std::sort(values.begin(), values.end(),
              [](const WeightedValue& a, const WeightedValue& b) { return a.value < b.value; });
    double sum = 0;
    for (const WeightedValue& one : values) {
        sum += one.weight;
    }
    double below = 0;
    for (const WeightedValue& one : values) {
        below += one.weight;
        if (below >= sum / 2) {
            return one.value;
        }
    }
    return values.back().value;
}

Middle middle_of_all(std::vector<WeightedValue> values) {
    constexpr double kWhole = 1.345, kToDeviation = 1.4826, kLeastSpread = 1e-6;
    constexpr int kRounds = 50;
    Middle middle;
    middle.value = weighted_median(values);
    std::vector<WeightedValue> distances = values;
    for (WeightedValue& one : distances) {
        one.value = std::abs(one.value - middle.value);
    }
    middle.spread = kToDeviation * weighted_median(distances);
    const double reach = kWhole * std::max(middle.spread, kLeastSpread);
    for (int round = 0; round < kRounds; ++round) {
        double sum = 0, weights = 0;
        for (const WeightedValue& one : values) {
            const double distance = std::abs(one.value - middle.value);
            const double weight = one.weight * (distance <= reach ? 1 : reach / distance);
            sum += weight * one.value;
            weights += weight;
        }
        const double next = sum / weights;
        const bool is_there = std::abs(next - middle.value) < 1e-12;
        middle.value = next;
        if (is_there) {
            break;
        }
    }
    return middle;
}

}  // namespace

Middle robust_middle(const std::vector<WeightedValue>& values) {
    AUSPEX_CHECK(!values.empty(), "the middle of something");
    Middle middle = middle_of_all(values);
    std::set<std::size_t> kinds;
    for (const WeightedValue& one : values) {
        kinds.insert(one.kind);
    }
    for (const std::size_t kind : kinds) {
        std::vector<WeightedValue> others;
        std::ranges::copy_if(values, std::back_inserter(others),
                             [kind](const WeightedValue& one) { return one.kind != kind; });
        const double moved = others.empty() ? 0 : std::abs(middle_of_all(std::move(others)).value - middle.value);
        if (moved > middle.spread) {
            middle.spread = moved;
            middle.leans_on = kind;
        }
    }
    return middle;
}

}  // namespace auspex::kineto
