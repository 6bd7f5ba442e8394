#pragma once
/// @file What is known of each rank once its kernels have been matched.
#include <vector>

#include "compare/kineto/account/run_diff.hpp"
#include "compare/kineto/match/match_step.hpp"

namespace auspex::kineto {

struct MatchedRank {
    const Trace* trace = nullptr;
    StepWindow window;
    MeasuredStep measured;
    PredictedRank predicted;
    StepMatch match;
};

/// Rows of the diff, and timelines: a track for each rank's compute and kinds of communication.
void fill_rank_rows(RunDiff& diff, const std::vector<MatchedRank>& ranks);
void fill_times(RunDiff& diff, const std::vector<MatchedRank>& ranks, const predict::SimulatedStep& step);
void fill_operations(RunDiff& diff, const std::vector<MatchedRank>& ranks, const schedule::Program& program);
void fill_unmatched(RunDiff& diff, const std::vector<MatchedRank>& ranks);
void fill_timelines(RunDiff& diff, const std::vector<MatchedRank>& ranks, const schedule::Program& program);

}  // namespace auspex::kineto
