#pragma once
/// @file The pieces that a campaign is predicted from, and how they come out of single-purpose runs. Pure functions.
#include <span>
#include <vector>

#include "workflows/endure/course.hpp"

namespace auspex::workflows {

/// Mean of several timings, its standard error (0 of fewer than two) and how many there were.
struct Timing {
    double mean_s = 0, error_s = 0;
    int count = 0;
};
[[nodiscard]] Timing timing_of(std::span<const double> values);

/// Steps after a launch that may be slower than later ones.
inline constexpr int kWarmSteps = 2;

/// What was timed, run by run.
struct PieceSamples {
    std::vector<double> step, stall, begin, end;
    std::vector<double> detection, relaunch, start, initialise, load, warm_up;
};

struct Pieces {
    Timing step;        ///< from the begin of a step to the next, without a checkpoint, behind the warm-up
    Timing stall;       ///< what that takes longer with a checkpoint, in it and in the one after it
    Timing begin;       ///< from the command to the first step, and what the first steps take longer
    Timing end;         ///< from the last checkpoint to the end of the command
    Timing detection;   ///< from a kill until mpirun and all ranks are gone
    Timing relaunch;    ///< until mpirun is started again: the supervisor looks for the checkpoint
    Timing start;       ///< until rank 0's process runs
    Timing initialise;  ///< until the first step, without a checkpoint: MPI, data, weights
    Timing load;        ///< what that takes longer with a checkpoint
    Timing warm_up;     ///< what the first kWarmSteps steps after a launch take longer than others

    /// From a kill until there is something to kill again.
    [[nodiscard]] double dead_s() const { return detection.mean_s + relaunch.mean_s + start.mean_s; }
    /// From then on until steps are as fast as before. A kill in it begins all of it anew.
    [[nodiscard]] double rise_s() const { return initialise.mean_s + load.mean_s + warm_up.mean_s; }
};

/// A run whose kills, if there are any, come one by one, with steps as usual between them. Requires one with a first
/// step.
void add(PieceSamples& samples, const Course& course);
/// Those of the other one, too.
void add(PieceSamples& samples, const PieceSamples& more);
/// Means; the load is what restarts with a checkpoint took longer to the first step than starts without one, 0 at
/// least.
[[nodiscard]] Pieces pieces_of(const PieceSamples& samples);

/// Mean of intervals that are neither warm-up nor touched by a checkpoint; 0 where there are none.
[[nodiscard]] double plain_step_s(const Course& course);

}  // namespace auspex::workflows
