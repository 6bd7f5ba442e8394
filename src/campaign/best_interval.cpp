/// @file Search for the best checkpoint interval: points around a guess, a curve through them.
#include "campaign/best_interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "campaign/agreement.hpp"
#include "campaign/campaign.hpp"
#include "campaign/closed_forms.hpp"
#include "campaign/quantities.hpp"

namespace auspex::campaign {
namespace {

constexpr int kPoints = 9, kRounds = 6, kSamples = 128;
/// The outermost points are this factor from the middle one.
constexpr double kReach = 2;
/// Below it a run gets nowhere, and is not worth the time to play it.
constexpr double kLeastEfficiency = 0.02;
constexpr double kFailuresOfSample = 500, kMostTrialSteps = 1e9;

using Row = std::array<double, 5>;  ///< four unknowns and the right side

/// Solves four equations by elimination with pivots; false where they do not say enough.
bool solve(std::array<Row, 4>& rows) {
    for (std::size_t i = 0; i < 4; ++i) {
        const auto pivot =
            std::max_element(rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(),
                             [i](const Row& a, const Row& b) { return std::abs(a[i]) < std::abs(b[i]); });
        std::swap(rows[i], *pivot);
        if (std::abs(rows[i][i]) < 1e-12) {
            return false;
        }
        for (std::size_t j = 0; j < 4; ++j) {
            const double factor = j == i ? 0 : rows[j][i] / rows[i][i];
            for (std::size_t k = i; k < 5; ++k) {
                rows[j][k] -= factor * rows[i][k];
            }
        }
    }
    return true;
}

/// The minimum of a least-squares curve b / x + a + c x + d x^2 within the points; x in units of `middle_s`.
std::optional<double> fitted_minimum(const std::vector<IntervalPoint>& points, double middle_s) {
    std::array<Row, 4> rows{};
    for (const IntervalPoint& point : points) {
        const double x = point.interval_s / middle_s;
        const std::array<double, 4> terms = {1 / x, 1, x, x * x};
        for (std::size_t i = 0; i < 4; ++i) {
            for (std::size_t j = 0; j < 4; ++j) {
                rows[i][j] += terms[i] * terms[j];
            }
            rows[i][4] += terms[i] * point.stretch;
        }
    }
    if (points.size() < 5 || !solve(rows)) {
        return std::nullopt;
    }
    const auto slope = [&](double x) {
        return -rows[0][4] / rows[0][0] / (x * x) + rows[2][4] / rows[2][2] + 2 * x * rows[3][4] / rows[3][3];
    };
    double low = points.front().interval_s / middle_s, high = points.back().interval_s / middle_s;
    if (slope(low) >= 0 || slope(high) <= 0) {
        return std::nullopt;
    }
    for (int halving = 0; halving < 60; ++halving) {
        const double x = (low + high) / 2;
        (slope(x) < 0 ? low : high) = x;
    }
    return low * middle_s;
}

IntervalPoint play_point(Setting setting, std::int64_t steps, std::uint64_t seed) {
    setting.checkpoints.every_steps = steps;
    const Result result = play_campaign(setting, {kSamples, seed});
    const double work_s = static_cast<double>(setting.steps) * setting.step_s;
    return {steps, static_cast<double>(steps) * setting.step_s, result.elapsed_s.mean / work_s};
}

std::vector<IntervalPoint> play_around(const Setting& setting, double middle_s, std::uint64_t seed) {
    std::vector<IntervalPoint> points;
    for (int i = 0; i < kPoints; ++i) {
        const double interval_s = middle_s * std::pow(kReach, 2.0 * i / (kPoints - 1) - 1);
        const auto steps = std::clamp<std::int64_t>(std::llround(interval_s / setting.step_s), 1, setting.steps);
        if (points.empty() || steps > points.back().steps) {
            points.push_back(play_point(setting, steps, seed));
        }
    }
    std::erase_if(points, [](const IntervalPoint& point) { return !std::isfinite(point.stretch); });
    return points;
}

/// The same campaign, so long that its failures even out. Not with one copy, where a failure while it is written goes
/// back to the begin: how bad that is depends on the run's own length.
Setting lengthened(const Setting& setting) {
    Setting longer = setting;
    longer.step_sigma = 0;
    Checkpoints& c = longer.checkpoints;
    if (c.persistent_every > 0) {  // what they add, shared out evenly
        c.stall_s += c.persistent_stall_s / std::exchange(c.persistent_every, 0);
    }
    if (c.copies > 1) {
        const double steps = std::ceil(kFailuresOfSample * mtbf_s(setting) / setting.step_s);
        const double most = std::clamp(std::floor(kLongestTrial_s / setting.step_s), 1.0, kMostTrialSteps);
        longer.steps = static_cast<std::int64_t>(std::clamp(steps, 1.0, most));
    }
    return longer;
}

}  // namespace

std::optional<BestInterval> best_interval(const Setting& setting, std::uint64_t seed) {
    const double mean_s = mtbf_s(setting);
    if (!std::isfinite(mean_s)) {
        return std::nullopt;
    }
    const Setting longer = lengthened(setting);
    const Checkpoints& c = longer.checkpoints;
    const PoissonRun run = poisson_run_of(longer);
    double middle_s = std::max({exact_interval_s(run), c.write_s, setting.step_s});
    BestInterval best;
    if (exact_efficiency(run, middle_s) < kLeastEfficiency) {
        best.interval_s = middle_s;
        best.steps = std::max<std::int64_t>(std::llround(middle_s / setting.step_s), 1);
        return best;
    }
    for (int round = 0; round < kRounds; ++round) {
        best.curve = play_around(longer, middle_s, seed);
        best.played += kPoints * kSamples;
        if (best.curve.empty()) {
            best.interval_s = middle_s;
            break;
        }
        const std::optional<double> minimum = fitted_minimum(best.curve, middle_s);
        const auto shortest = std::ranges::min_element(best.curve, {}, &IntervalPoint::stretch);
        best.interval_s = minimum.value_or(shortest->interval_s);
        const bool is_inside = shortest != best.curve.begin() && shortest + 1 != best.curve.end();
        if (minimum || is_inside || best.interval_s == middle_s) {
            break;
        }
        middle_s = best.interval_s;
    }
    best.steps = std::max<std::int64_t>(std::llround(best.interval_s / setting.step_s), 1);
    return best;
}

}  // namespace auspex::campaign
