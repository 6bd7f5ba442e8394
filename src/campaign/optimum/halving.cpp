/// @file Rounds of more and more samples for fewer and fewer settings.
#include "campaign/optimum/halving.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "campaign/best_interval.hpp"

namespace auspex::campaign {
namespace {

constexpr int kLeastSamples = 16;
constexpr std::size_t kKeptShare = 3, kLeastKept = 8;

using Point = FinishAndCost;

Point point_of(const Result& result) { return {result.elapsed_s.p50, result.node_hours.p50}; }

/// How far behind the front: 1 on it, 1.02 where another needs 2 % less of both.
double behind(const std::vector<Point>& points, std::size_t i) {
    double ratio = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < points.size(); ++j) {
        if (j != i) {
            ratio = std::min(
                ratio, std::max(points[i].finish_s / points[j].finish_s, points[i].node_hours / points[j].node_hours));
        }
    }
    return ratio;
}

bool is_on_front(const std::vector<Point>& points, std::size_t i) {
    return std::isfinite(points[i].finish_s) &&
           std::ranges::none_of(points, [&](const Point& other) { return dominates(other, points[i]); });
}

/// Places in `points` that go on: the first of all, the front, and those next to it.
std::vector<std::size_t> kept(const std::vector<Point>& points) {
    const std::size_t most = std::max(points.size() / kKeptShare, kLeastKept);
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> rank(points.size());
    std::size_t certain = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool stays = i == 0 || is_on_front(points, i);
        certain += stays ? 1 : 0;
        rank[i] = stays ? 0 : std::isfinite(points[i].finish_s) ? behind(points, i) : 1e300;
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return rank[i]; });
    order.resize(std::min(order.size(), std::max(most, certain)));
    std::ranges::sort(order);
    return order;
}

/// All samples, with the interval that is best for the setting.
Finalist finalist_of(Setting setting, std::size_t index, const Samples& samples, bool keeps_interval,
                     std::int64_t& played) {
    if (!keeps_interval) {
        const std::optional<BestInterval> best = best_interval(setting, samples.seed);
        setting.checkpoints.every_steps = best ? std::min(best->steps, setting.steps) : setting.steps;
        played += best ? best->played : 0;
    }
    played += samples.count;
    return {index, setting.checkpoints.every_steps, play_campaign(setting, samples)};
}

void judge(Optimum& of, Objective objective) {
    std::vector<Point> points;
    std::ranges::transform(of.finalists, std::back_inserter(points),
                           [](const Finalist& one) { return point_of(one.result); });
    const auto wanted = [&](const Point& point) {
        return objective == Objective::kFinish ? std::pair(point.finish_s, point.node_hours)
                                               : std::pair(point.node_hours, point.finish_s);
    };
    of.best = static_cast<std::size_t>(std::ranges::min_element(points, {}, wanted) - points.begin());
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (is_on_front(points, i)) {
            of.front.push_back(i);
        }
    }
    std::ranges::sort(of.front, {}, [&](std::size_t i) { return std::pair(points[i].finish_s, i); });
}

}  // namespace

bool dominates(const FinishAndCost& a, const FinishAndCost& b) {
    return a.finish_s <= b.finish_s && a.node_hours <= b.node_hours &&
           (a.finish_s < b.finish_s || a.node_hours < b.node_hours);
}

Optimum best_setting(const std::vector<Setting>& settings, Objective objective, const Samples& samples,
                     bool keeps_interval, const OptimumProgress& progress) {
    AUSPEX_CHECK(!settings.empty(), "a setting at least");
    Optimum found;
    std::vector<std::size_t> left(settings.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    std::size_t done = 0;
    for (const int share : {9, 3}) {
        const Samples few{std::min(std::max(samples.count / share, kLeastSamples), samples.count), samples.seed};
        if (left.size() <= kLeastKept) {
            break;
        }
        std::vector<Point> points;
        for (const std::size_t i : left) {
            progress(done, done + left.size() - points.size());
            ++done;
            points.push_back(point_of(play_campaign(settings[i], few)));
            found.played += few.count;
        }
        std::vector<std::size_t> next;
        std::ranges::transform(kept(points), std::back_inserter(next), [&](std::size_t at) { return left[at]; });
        left = std::move(next);
    }
    for (const std::size_t i : left) {
        progress(done, done + left.size() - found.finalists.size());
        ++done;
        found.finalists.push_back(finalist_of(settings[i], i, samples, keeps_interval, found.played));
    }
    judge(found, objective);
    return found;
}

Optimum best_of_all(const std::vector<Setting>& settings, Objective objective, const Samples& samples,
                    bool keeps_interval) {
    Optimum found;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        found.finalists.push_back(finalist_of(settings[i], i, samples, keeps_interval, found.played));
    }
    judge(found, objective);
    return found;
}

}  // namespace auspex::campaign
