#pragma once
/// @file When a whole run is over and what it costs, in the mean and without playing it.
#include <cstdint>
#include <string>
#include <vector>

#include "campaign/setting.hpp"

namespace auspex::campaign {

struct ExpectedFinish {
    double elapsed_s = 0;               ///< mean, from the begin to the last checkpoint; infinite where
                                        ///< the run gets nowhere: takes 100 times as long as its steps, and a year
    double node_hours = 0;              ///< mean, of nodes and spares while they are held; infinite likewise
    double goodput = 0;                 ///< time of steps that are not done again, over elapsed_s
    double interruptions = 0;           ///< of the whole job, mean
    double blocks = 1;                  ///< jobs of the batch system, mean
    double mtbf_s = 0;                  ///< between interruptions, while nodes are held; infinite without failures
    std::vector<std::string> left_out;  ///< what of the setting this does not have; empty: all of it is there
};

/// Closed form of a campaign, in microseconds. Failures strike at random (rate r) in steps, stalls and recoveries.
/// With t = work between checkpoints, d = stall, v = write beside the steps, R = mean recovery (recovery_law.hpp) and
/// L = max(t, v) + d, a checkpoint counts v behind its stall, and from one that counts to the next it takes
///   (1/r + R) (1 - e^(-r L)) e^(r (t + d + v)),   of the first behind a start (1/r + R) (e^(r (t + d + v)) - 1)
/// which is Daly's segment time where v = 0 (closed_forms.hpp). Slow nodes and the spread of the step stretch t in the
/// mean; one of persistent_every checkpoints stalls for longer. Wrong numbers that are found after a mean time C cost
/// what was done since, and since the newest checkpoint of before. Jobs of a batch system are laid out in turn, as the
/// mean run needs them and eight runs that failures make longer or shorter; each that its walltime or a maintenance
/// ends costs a last checkpoint (or the steps since the last one), the queue and a start.
/// Tested against what is played: docs/campaign.md says how near. Requires steps and every_steps above 0.
[[nodiscard]] ExpectedFinish expected_finish(const Setting& setting);

/// The best work between checkpoints by closed form (exact_interval_s, persistent stalls shared out), in steps, at
/// least as long as a write; all steps where nothing fails.
[[nodiscard]] std::int64_t closed_form_steps(const Setting& setting);

}  // namespace auspex::campaign
