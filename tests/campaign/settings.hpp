#pragma once
/// @file Campaigns that several tests play.
#include "campaign/campaign.hpp"

namespace auspex::campaign {

/// Interruptions at random, blocking checkpoints, a restart: what the closed forms have.
inline Setting poisson_campaign(double mtbf_s, double restart_s, double stall_s, std::int64_t every, std::int64_t steps,
                                double step_s = 1) {
    Setting setting;
    setting.steps = steps;
    setting.step_s = step_s;
    setting.checkpoints.every_steps = every;
    setting.checkpoints.stall_s = stall_s;
    setting.recovery.restart_s = restart_s;
    FailureSource source;
    source.component = source.cause = "job";
    source.mean_s = mtbf_s;
    source.nodes = 0;
    setting.failures.push_back(source);
    return setting;
}

inline double share_of(const Result& result, Spent spent) { return result.shares[static_cast<std::size_t>(spent)]; }

}  // namespace auspex::campaign
