#pragma once
/// @file What `auspex campaign` takes, and `auspex startup` of it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace auspex::cli {

/// How often checkpoints are written: steps, or seconds, or neither: as the best interval is.
struct CheckpointEvery {
    std::int64_t steps = 0;
    double seconds = 0;
};

/// Values of flags, in SI; what was not given is empty or zero, unless a default stands here.
struct CampaignFlags {
    bool bare = false;
    double step_s = 0;
    std::int64_t steps = 0;
    double mtbf_s = 0;
    double weibull_shape = 0;  ///< 0: exponential, or `trace`
    std::string trace;         ///< file of times
    int machines = 0;
    std::optional<double> daily_failure;
    std::optional<double> stall_s, write_s, restart_s, detection_s, swap_s, watchdog_s;
    std::optional<CheckpointEvery> checkpoint_every;
    std::optional<double> silent_share, soft_share;
    std::optional<int> spares;
    bool auto_spares = false;  ///< as many as are needed: found by playing
    double replenish_s = 0, replenish_sigma = 0;
    std::optional<double> failed_start_share;
    double walltime_s = 0;
    std::optional<double> queue_wait_s;
    double queue_wait_sigma = 0;
    double maintenance_every_s = 0, maintenance_s = 0;
    double lemon_share = 0, lemon_factor = 1;
    double slow_every_s = 0, slow_factor = 1, slow_s = 0;
    int samples = 1000;
    std::string deadline;  ///< a time, or a date
    std::string start;     ///< a date
    std::vector<std::string> without;
    bool builds_index = false;
    std::string vary;
    std::string optimise, objective;
};

}  // namespace auspex::cli
