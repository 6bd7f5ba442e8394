#pragma once
/// @file Many samples of a campaign, and what they say of it.
#include <array>
#include <cstdint>
#include <vector>

#include "campaign/setting.hpp"
#include "campaign/spent.hpp"

namespace auspex::campaign {

/// Of one number over the samples; infinite where so many samples were given up.
struct Quantiles {
    double p10 = 0, p50 = 0, p90 = 0;
    double mean = 0;
};

struct Samples {
    int count = 1000;
    std::uint64_t seed = 1;
};

/// What one source of failure did, in the mean over the samples.
struct SourceResult {
    double interruptions = 0;
    double lost_share = 0;  ///< of all time: detection, recovery and steps done again
};

struct Result {
    int samples = 0, given_up = 0;
    Quantiles elapsed_s;                       ///< from the begin to the last checkpoint
    Quantiles node_hours;                      ///< of nodes and spares, while they are held
    Quantiles interruptions;                   ///< of a campaign
    double goodput = 0;                        ///< time of steps that were not done before, over all time
    std::array<double, kSpentCount> shares{};  ///< of all time, by what it went to; they add up to 1
    std::vector<SourceResult> sources;
    double checkpoints = 0, blocks = 0, requeues = 0, lost_steps = 0;  ///< means
    std::int64_t spares_needed_p99 = 0;  ///< of windows of spare_window_s: 99 % lost so many nodes or fewer
    double ends_corrupt = 0;     ///< share of samples that end with wrong numbers in the model that nobody has found
    double elapsed_error_s = 0;  ///< standard error of the mean
    std::vector<double> samples_elapsed_s, samples_node_hours;    ///< by sample; infinite where given up
    std::vector<double> samples_interruptions;                    ///< by sample
    std::vector<std::array<double, kSpentCount>> samples_shares;  ///< by sample, of its own time; until given up
};

/// Plays all of them, on all cores. The result depends on setting, count and seed alone; more samples begin with the
/// same ones. Requires a count above 0.
[[nodiscard]] Result play_campaign(const Setting& setting, const Samples& samples);

/// Share of samples that are over by then.
[[nodiscard]] double share_by(const Result& result, double elapsed_s);

/// Mean time between failures of all sources together, of ordinary nodes; infinite without sources.
[[nodiscard]] double mtbf_s(const Setting& setting);

}  // namespace auspex::campaign
