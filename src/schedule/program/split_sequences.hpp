#pragma once
/// @file Where the load balance of a sequence is known to several ranks only.
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::schedule {

/// Ranks route parts of sequences: cp deals their tokens out, or tp ranks with fewer etp ranks have a slice each. The
/// choices of whole sequences, which the load balance is made of, are then counted over these ranks. Not with a global
/// auxiliary loss, which is no router's.
[[nodiscard]] inline bool splits_routed_sequences(const models::Workload& workload, const models::Plan& plan) {
    return workload.num_experts > 0 && !workload.global_aux_loss && (plan.cp > 1 || plan.etp < plan.tp);
}

}  // namespace auspex::schedule
