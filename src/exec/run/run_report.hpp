#pragma once
/// @file What a run says of its steps and ranks.
#include <string>
#include <vector>

#include "exec/transport/counting_communicator.hpp"
#include "schedule/memory/memory_label.hpp"
#include "schedule/timeline.hpp"

namespace auspex::exec {

struct StepReport {
    int step = 0;
    double loss = 0, cross_entropy = 0, auxiliary = 0, z = 0;
    double gradient_norm = 0, learning_rate = 0;
    double step_time_s = 0;  ///< of the slowest rank, from a barrier before the step
    double tokens_per_s = 0;
    double probe_s = 0;  ///< of the slowest rank, before or after the step (exec/run/core_probe.hpp); 0: not asked for
};

/// Of one rank, at the end.
struct RankReport {
    int rank = 0;
    schedule::LabelBytes peaks{}, at_peak{};
    std::size_t peak_bytes = 0, reserved_bytes = 0, transport_bytes = 0, blas_bytes = 0;
    std::vector<OperationCount> counts;  ///< by OpKind, of one step (the last)
};

struct RunReport {
    int first_step = 0;             ///< where it began: 0, or the checkpoint's
    std::vector<StepReport> steps;  ///< rank 0 only
    std::vector<RankReport> ranks;  ///< rank 0 only: of all
    schedule::Timeline timeline;    ///< rank 0 only: of all ranks, tracks "rank R"
    std::vector<std::string> notes;
};

}  // namespace auspex::exec
