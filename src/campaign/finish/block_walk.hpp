#pragma once
/// @file A run of a known length laid out over jobs of a batch system and between maintenances.
#include "campaign/finish/recovery_law.hpp"
#include "campaign/setting.hpp"

namespace auspex::campaign {

/// All infinite where blocks are too short to get on.
struct LaidOut {
    double elapsed_s = 0, held_s = 0, exposed_s = 0;
    double planned = 0;  ///< ends of blocks that no failure caused
};

/// Failures that send the job to the queue begin a block anew: where they come at a rate q, the walltime W ends one in
/// (e^(q W) - 1) / q of time in jobs. Queue and idle times of failures are shared out evenly over the run.
class BlockWalk {
 public:
    /// Keeps references. `open`: the run without blocks; `step_s`: of a step in the mean.
    BlockWalk(const Setting& setting, const RecoveryLaw& law, const MeanTime& open, double step_s);

    /// Of a run that is exposed to failures for so long where nothing ends its job but failures. `first`: the share of
    /// its length that the first block has.
    [[nodiscard]] LaidOut lay_out(double exposed_s, double first) const;

 private:
    /// What the end of a block adds to the run in its jobs: a checkpoint, or steps since the last one; and a start.
    [[nodiscard]] double cost_of_end_s(double block_s) const;

    const Setting& set_;
    const RecoveryLaw& law_;
    double step_s_;
    double idle_ = 0, queued_ = 0;  ///< beside each second of exposed time
    double queue_s_ = 0;
    double length_s_ = 0;  ///< time in jobs between two ends by walltime; infinite without walltime
};

}  // namespace auspex::campaign
