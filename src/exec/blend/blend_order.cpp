/// @file Greedy choice, and a start in the middle of it.
#include "exec/blend/blend_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace auspex::exec {
namespace {

/// As numpy adds doubles: eight sums side by side, halves apart where there are more than 128 (numpy/_core/src/umath/
/// loops_utils.h.src, pairwise_sum).
double numpy_sum(std::span<const double> numbers) {
    constexpr std::size_t kLanes = 8, kBlock = 128;
    const std::size_t n = numbers.size();
    if (n > kBlock) {
        const std::size_t half = n / 2 - n / 2 % kLanes;
        return numpy_sum(numbers.first(half)) + numpy_sum(numbers.subspan(half));
    }
    double sum = 0;
    std::size_t i = 0;
    if (n >= kLanes) {
        std::array<double, kLanes> r{};
        std::copy_n(numbers.begin(), kLanes, r.begin());
        for (i = kLanes; i + kLanes <= n; i += kLanes) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                r[lane] += numbers[i + lane];
            }
        }
        sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    for (; i < n; ++i) {
        sum += numbers[i];
    }
    return sum;
}

/// n w_d, rounded so that they sum to n: down, and those with the largest remainders up.
std::vector<std::int64_t> rounded_shares(std::span<const double> weights, std::int64_t sequences) {
    std::vector<std::int64_t> counts(weights.size());
    std::vector<std::size_t> by_remainder(weights.size());
    const auto share = [&](std::size_t d) { return weights[d] * static_cast<double>(sequences); };
    for (std::size_t d = 0; d < weights.size(); ++d) {
        counts[d] = static_cast<std::int64_t>(std::floor(share(d)));
        by_remainder[d] = d;
    }
    std::ranges::stable_sort(by_remainder, std::greater<>(),
                             [&](std::size_t d) { return share(d) - static_cast<double>(counts[d]); });
    std::int64_t left = sequences - std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    for (std::size_t i = 0; left != 0; i = (i + 1) % by_remainder.size()) {
        const std::int64_t step = left > 0 ? 1 : -1;
        std::int64_t& count = counts[by_remainder[i]];
        if (count + step >= 0) {
            count += step;
            left -= step;
        }
    }
    return counts;
}

}  // namespace

std::vector<double> megatron_weights(std::span<const double> weights) {
    std::vector<double> shares(weights.begin(), weights.end());
    for (int time = 0; time < 2; ++time) {
        const double sum = numpy_sum(shares);
        for (double& share : shares) {
            share /= sum;
        }
    }
    return shares;
}

std::vector<std::int64_t> megatron_sizes(std::span<const double> weights, std::int64_t sequences) {
    constexpr double kSurplus = 0.005;
    std::vector<std::int64_t> sizes;
    for (const double weight : weights) {
        const double share = std::ceil(static_cast<double>(sequences) * weight);
        sizes.push_back(static_cast<std::int64_t>(std::ceil(share * (1 + kSurplus))));
    }
    return sizes;
}

BlendOrder::BlendOrder(std::span<const double> weights)
    : BlendOrder(weights, 0, std::vector<std::int64_t>(weights.size())) {}

BlendOrder::BlendOrder(std::span<const double> weights, std::int64_t sequence, std::vector<std::int64_t> counts)
    : weights_(weights.begin(), weights.end()), counts_(std::move(counts)), sequence_(sequence) {
    AUSPEX_CHECK(!weights_.empty() && weights_.size() == counts_.size(), "a blend has sources, each with a count");
}

std::size_t BlendOrder::next() {
    const double place = std::max(static_cast<double>(sequence_++), 1.0);
    std::size_t chosen = 0;
    double most = weights_[0] * place - static_cast<double>(counts_[0]);
    for (std::size_t d = 1; d < weights_.size(); ++d) {
        const double behind = weights_[d] * place - static_cast<double>(counts_[d]);
        if (behind > most) {
            most = behind;
            chosen = d;
        }
    }
    ++counts_[chosen];
    return chosen;
}

std::vector<std::int64_t> likely_counts(std::span<const double> weights, std::int64_t sequence) {
    constexpr std::int64_t kForgotten = 8192;
    const std::int64_t begin = std::max<std::int64_t>(sequence - kForgotten, 0);
    BlendOrder order(weights, begin, rounded_shares(weights, begin));
    while (order.sequence() < sequence) {
        order.next();
    }
    return order.counts();
}

}  // namespace auspex::exec
