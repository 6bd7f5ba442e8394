#pragma once
/// @file What calibrated pieces say of runs that are killed at random. Pure functions.
#include <cstdint>
#include <span>
#include <vector>

#include "campaign/setting.hpp"
#include "workflows/endure/pieces.hpp"

namespace auspex::workflows {

/// How a run is killed and saves.
struct EndureSetting {
    int every = 1;      ///< steps between checkpoints
    double mtbf_s = 0;  ///< of exposure (KillClock)
};

/// A run of a setting, with pieces of its own, for a shared computer is not always as fast.
struct EndureRun {
    int steps = 0;
    Pieces pieces;
    std::vector<double> kills_s;  ///< exposure at each kill that came, and at the one that would have come next
    double own_step_s = 0;        ///< a plain step in the run itself
};

/// Steps x their predicted time, of all runs.
[[nodiscard]] double work_s(std::span<const EndureRun> runs);
/// Steps x the time that they took in the runs themselves.
[[nodiscard]] double own_work_s(std::span<const EndureRun> runs);

/// Goodput is work_s() over all time, from the commands' begins to their ends.
struct Forecast {
    double goodput = 0, p10 = 0, p90 = 0;  ///< all time in the mean; quantiles over samples of all runs
    double all_s = 0;                      ///< all time of all runs, in the mean
    double kills = 0, lost_steps = 0;      ///< of all runs, in the mean
    double recovery_s = 0;                 ///< from a kill to the next step, or the next kill
};

/// From the first step to the last checkpoint: steps, checkpoints that stop them, kills that find nothing to strike
/// for Pieces::dead_s and begin Pieces::rise_s anew.
[[nodiscard]] campaign::Setting campaign_setting(const EndureSetting& setting, const EndureRun& run);

/// Played `samples` times. Depends on its arguments alone. Requires a run.
[[nodiscard]] Forecast forecast(const EndureSetting& setting, std::span<const EndureRun> runs, int samples,
                                std::uint64_t seed);

/// The same kills again, those of each run: no chance is left. p10 and p90 are the goodput. Requires a run.
[[nodiscard]] Forecast replayed(const EndureSetting& setting, std::span<const EndureRun> runs);

/// Mean time of exposure and all time of a segment of so many steps and the checkpoint behind it:
///   exposed = M e^(R/M) (e^((t + d)/M) - 1),   all = (1 + D/M) exposed,
/// with rise R, stall d and dead time D: after each of exposed/M kills D passes in which nothing can be killed.
struct SegmentTimes {
    double exposed_s = 0, all_s = 0;
};
[[nodiscard]] SegmentTimes segment_times(const Pieces& pieces, double mtbf_s, int steps);

/// Goodput by the closed form. Requires a run.
[[nodiscard]] double closed_form_goodput(const EndureSetting& setting, std::span<const EndureRun> runs);

/// Steps in which so many kills are to be expected: whole intervals, one at least.
[[nodiscard]] int steps_for_kills(const EndureSetting& setting, const Pieces& pieces, double kills);

/// The best interval by the closed form, in steps; 1 at least.
[[nodiscard]] double best_interval_steps(const Pieces& pieces, double mtbf_s);

}  // namespace auspex::workflows
