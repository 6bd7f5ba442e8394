#pragma once
/// @file The best plan of each of several sizes of a job, and the smallest size that makes a deadline.
#include <functional>
#include <optional>
#include <vector>

#include "sim/predict/prediction.hpp"
#include "sim/search/plan_search.hpp"

namespace auspex::search {

struct SizePoint {
    int tiles = 0;
    std::uint64_t space = 0;             ///< plans that divide tiles and batch; 0: none does
    std::optional<EvaluatedPlan> best;   ///< of those that fit
    std::vector<EvaluatedPlan> fastest;  ///< so many as were asked for, the best first
    predict::Prediction prediction;      ///< of the best, without interval and constants
    /// How much of what the tiles beyond the last smaller size with a plan could add they do add, with r tokens/s and n
    /// tiles: (r / r' - 1) / (n / n' - 1). 1: twice the tiles, twice the rate; none for the first.
    std::optional<double> marginal_speedup;
    [[nodiscard]] double tokens_per_node_hour() const {
        return prediction.tokens_per_step / prediction.step_node_hours;
    }
};

/// More tiles pay as long as they add at least so much of what they could.
inline constexpr double kSpeedupThatPays = 0.5;

/// Called before each size, and now and then while it is searched: its place, and how many there are.
using SizeProgress = std::function<void(std::size_t, std::size_t)>;

/// Searches each of the sizes, rising, with the same global batch, for the `top` fastest plans; those before an end by
/// options.is_cut. Throws as search_plans.
[[nodiscard]] std::vector<SizePoint> search_sizes(const models::Inputs& inputs, const SpaceRequest& request,
                                                  const SearchOptions& options, const std::vector<int>& sizes,
                                                  double run_tokens, const SizeProgress& progress, std::size_t top = 1);
/// Fills in how much the tiles beyond the last smaller size with a plan add.
void judge_sizes(std::vector<SizePoint>& points);

/// The last size before the first that does not pay; none: no size has a plan. `ends`: there is such a first.
struct PayingSize {
    const SizePoint* point = nullptr;
    bool ends = false;
};
[[nodiscard]] PayingSize last_that_pays(const std::vector<SizePoint>& points);
/// The size with the shortest step, or with the most tokens per node-hour; the smaller of two. Null: none has a plan.
[[nodiscard]] const SizePoint* fastest_size(const std::vector<SizePoint>& points);
[[nodiscard]] const SizePoint* cheapest_size(const std::vector<SizePoint>& points);

struct DeadlineResult {
    std::optional<SizePoint> smallest;  ///< that makes it; none of the smaller `sizes` does
    int with_plans = 0;                 ///< sizes looked at that have plans
    bool was_cut = false;
};
/// The first of the sizes, rising, with a plan that trains run_tokens within deadline_s, without checkpoints, failures
/// and queueing. Sizes that would have to exceed the peak of their tiles are passed over; of the others every plan is
/// excluded by its bound or played, as in a search.
[[nodiscard]] DeadlineResult smallest_in_time(const models::Inputs& inputs, const SpaceRequest& request,
                                              const SearchOptions& options, const std::vector<int>& sizes,
                                              double run_tokens, double deadline_s, const SizeProgress& progress);

}  // namespace auspex::search
