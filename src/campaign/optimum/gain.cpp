/// @file Pairs of samples, drawn together.
#include "campaign/optimum/gain.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/mix64.hpp"
#include "base/statistics/bootstrap.hpp"

namespace auspex::campaign {
namespace {

/// By nearest rank, as campaign::Quantiles have it.
double median_of(const std::vector<double>& values, std::span<const std::size_t> drawn) {
    std::vector<double> chosen;
    chosen.reserve(drawn.size());
    for (const std::size_t i : drawn) {
        chosen.push_back(values[i]);
    }
    const auto middle = chosen.begin() + static_cast<std::ptrdiff_t>((chosen.size() - 1) / 2);
    std::ranges::nth_element(chosen, middle);
    return *middle;
}

}  // namespace

std::optional<Gain> gain_of(const Setting& from, const Setting& to, const Samples& samples) {
    const Samples others{samples.count, mix64(samples.seed)};
    const Result a = play_campaign(from, others), b = play_campaign(to, others);
    if (4 * std::max(a.given_up, b.given_up) >= samples.count) {
        return std::nullopt;
    }
    const auto saved = [&](std::span<const std::size_t> drawn) {
        return std::vector<double>{median_of(a.samples_elapsed_s, drawn) - median_of(b.samples_elapsed_s, drawn),
                                   median_of(a.samples_node_hours, drawn) - median_of(b.samples_node_hours, drawn)};
    };
    Gain gain{{a.elapsed_s.p50, b.elapsed_s.p50, {}}, {a.node_hours.p50, b.node_hours.p50, {}}};
    const std::array<double, 2> values{gain.elapsed_s.value(), gain.node_hours.value()};
    const std::vector<Interval> intervals =
        bootstrap_intervals({static_cast<std::size_t>(samples.count), 1}, values, saved, others.seed);
    gain.elapsed_s.saved = intervals[0], gain.node_hours.saved = intervals[1];
    return gain;
}

}  // namespace auspex::campaign
