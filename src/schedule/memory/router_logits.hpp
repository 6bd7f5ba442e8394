#pragma once
/// @file Router logits that travel with a micro-batch to its global auxiliary loss.
#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// The layer behind the last one that a virtual stage's buffer of router logits has room for: that of the stage, or of
/// the next one where it lies on the same ranks and takes the buffer over.
[[nodiscard]] inline int router_logits_end(const models::Workload& workload, const models::Plan& plan,
                                           int virtual_stage) {
    int stage = virtual_stage;
    while (!is_last_part(plan, stage) && is_local_boundary(plan, stage)) {
        ++stage;
    }
    return layers_of(workload, plan, stage).last;
}

}  // namespace auspex::schedule
