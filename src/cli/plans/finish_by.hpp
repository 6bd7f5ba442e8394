#pragma once
/// @file Layouts judged by when a whole run is over: `auspex plan --objective finish-by`.
#include <functional>

#include "cli/campaigns/shared_intervals.hpp"
#include "cli/flags/options.hpp"
#include "report/plans/plan_finish.hpp"
#include "sim/search/answers/ranked_plans.hpp"

namespace auspex::cli {

/// So many layouts with the shortest steps are played where --objective is finish-by, unless --top asks for more: of
/// one size of a job, and of each of several.
inline constexpr std::size_t kFinalists = 32, kFinalistsOfSize = 8;

[[nodiscard]] bool ranks_by_finish(const Options& options);
/// True with --tokens on a machine of accelerators, where a run can be played.
[[nodiscard]] bool plays_runs(const Options& options, const models::Machine& machine);
/// Throws InputError for --objective finish-by without --tokens, with --vary or on a computer whose ranks share cores,
/// and for flags of a campaign where none is played.
void check_finish_flags(const Options& options, const models::Machine& machine);

/// Plays layouts of one search or of several, with the same failures as far as their rates are the same.
class FinishPlayer {
 public:
    explicit FinishPlayer(const Options& options);

    /// Requires a prediction of inputs.plan.
    [[nodiscard]] report::PlanFinish play(const models::Inputs& inputs, const predict::Prediction& prediction);
    /// The same of no layout in particular: a step so long, one checkpoint that all nodes write and read.
    [[nodiscard]] report::PlanFinish play_least(const models::Inputs& inputs, const predict::Prediction& prediction,
                                                double step_s);

 private:
    const Options& options_;
    campaign::Samples samples_;
    SharedIntervals intervals_;
};

/// Called before each layout is played: its place, and how many there are.
using FinishProgress = std::function<void(std::size_t, std::size_t)>;

/// Plays `ranked`, the fastest first: all of them where --objective is finish-by, which puts first what is over first
/// in the median (of two the one with fewer node-hours, then the shorter step) and keeps options' --top of them, their
/// leads judged anew; else the best alone. `result`: of the search that they are of.
[[nodiscard]] report::PlanFinishes play_finalists(const Options& options, const models::Inputs& inputs,
                                                  const search::SearchResult& result,
                                                  std::vector<search::RankedPlan>& ranked,
                                                  const FinishProgress& progress);

/// True for the one that is over first, as above.
[[nodiscard]] bool ends_before(const report::PlanFinish& one, const report::PlanFinish& other);

}  // namespace auspex::cli
