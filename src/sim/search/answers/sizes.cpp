/// @file A search a size.
#include "sim/search/answers/sizes.hpp"

#include <algorithm>

#include "sim/predict/predict.hpp"
#include "sim/search/answers/nearest.hpp"

namespace auspex::search {
namespace {

SizePoint point_of(const models::Inputs& inputs, int tiles, const SearchResult& result, double run_tokens) {
    SizePoint point;
    point.tiles = tiles;
    point.space = result.space;
    if (!result.best.empty()) {
        point.best = result.best.front();
        point.fastest = result.best;
        models::Inputs own = inputs;
        own.plan = plan_of(point.best->candidate, inputs.plan);
        point.prediction = predict::predict(own, {.run_tokens = run_tokens, .sensitivity = false}).prediction;
    }
    return point;
}

/// The first of the points with a plan for which no other is better.
template <class IsBetter>
const SizePoint* best_of(const std::vector<SizePoint>& points, const IsBetter& is_better_size) {
    const SizePoint* best = nullptr;
    for (const SizePoint& point : points) {
        if (point.best && (best == nullptr || is_better_size(point, *best))) {
            best = &point;
        }
    }
    return best;
}

}  // namespace

std::vector<SizePoint> search_sizes(const models::Inputs& inputs, const SpaceRequest& request,
                                    const SearchOptions& options, const std::vector<int>& sizes, double run_tokens,
                                    const SizeProgress& progress, std::size_t top) {
    std::vector<SizePoint> points;
    SpaceRequest own = request;
    SearchOptions how = options;
    how.top = top;
    how.progress = [&](const SearchProgress&) { progress(points.size(), sizes.size()); };
    for (const int tiles : sizes) {
        progress(points.size(), sizes.size());
        own.tiles = tiles;
        const SearchResult result = search_plans(inputs, own, how);
        if (result.was_cut) {
            break;
        }
        points.push_back(point_of(inputs, tiles, result, run_tokens));
    }
    judge_sizes(points);
    return points;
}

void judge_sizes(std::vector<SizePoint>& points) {
    const SizePoint* before = nullptr;
    for (SizePoint& point : points) {
        point.marginal_speedup.reset();
        if (point.best && before != nullptr) {
            point.marginal_speedup = (point.prediction.tokens_per_s / before->prediction.tokens_per_s - 1) /
                                     (static_cast<double>(point.tiles) / before->tiles - 1);
        }
        before = point.best ? &point : before;
    }
}

PayingSize last_that_pays(const std::vector<SizePoint>& points) {
    PayingSize last;
    for (const SizePoint& point : points) {
        if (point.best && point.marginal_speedup.value_or(1) < kSpeedupThatPays) {
            last.ends = true;
            return last;
        }
        last.point = point.best ? &point : last.point;
    }
    return last;
}

const SizePoint* fastest_size(const std::vector<SizePoint>& points) {
    return best_of(points, [](const SizePoint& a, const SizePoint& b) { return a.best->step < b.best->step; });
}

const SizePoint* cheapest_size(const std::vector<SizePoint>& points) {
    return best_of(points, [](const SizePoint& a, const SizePoint& b) {
        return a.tokens_per_node_hour() > b.tokens_per_node_hour();
    });
}

DeadlineResult smallest_in_time(const models::Inputs& inputs, const SpaceRequest& request, const SearchOptions& options,
                                const std::vector<int>& sizes, double run_tokens, double deadline_s,
                                const SizeProgress& progress) {
    DeadlineResult found;
    SpaceRequest own = request;
    SearchOptions how = options;
    how.top = 1;
    how.exhaustive = false;
    how.most_s = deadline_s / run_tokens * request.global_batch * inputs.workload.sequence_length;
    std::size_t looked_at = 0;
    how.progress = [&](const SearchProgress&) { progress(looked_at, sizes.size()); };
    const double flop = run_tokens * count_token_flop(inputs.workload).training();
    for (; looked_at < sizes.size() && !found.smallest; ++looked_at) {
        progress(looked_at, sizes.size());
        own.tiles = sizes[looked_at];
        if (!has_plans(inputs, own)) {
            continue;
        }
        ++found.with_plans;
        if (flop / (inputs.machine.tile.peak_bf16_flop_per_s * own.tiles) > deadline_s) {
            continue;
        }
        const SearchResult result = search_plans(inputs, own, how);
        found.was_cut = result.was_cut;
        if (found.was_cut) {
            break;
        }
        if (!result.best.empty() && to_seconds(result.best.front().step) <= how.most_s) {
            found.smallest = point_of(inputs, own.tiles, result, run_tokens);
        }
    }
    return found;
}

}  // namespace auspex::search
