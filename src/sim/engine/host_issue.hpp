#pragma once
/// @file Passes that the host issues more slowly than the device runs them.
#include "sim/engine/operation_costs.hpp"

namespace auspex::engine {

/// Seconds that the host needs to issue a block: stack.issue_s for every kernel (of the backward pass
/// backward_launch_ratio times as many, GEMMs and attention apart), for every communication collective_issue_s, and
/// where the job spans nodes collective_check_s for each rank of its group, reduce-scatters and gathers of gradients
/// and parameters apart, which carry many tensors at once.
[[nodiscard]] double host_issue_s(const schedule::Program& program, const schedule::Block& block,
                                  const models::Stack& stack, const models::Layout& layout);

/// Gives every kHostIssue its time: what issuing its block takes longer than the block's compute and the communications
/// of tp, ep and cp. So a pass takes the longer of both; where communications run beside compute a little less.
/// Ignores that the host may be ahead by more than a pass.
void cost_host_issue(const schedule::Program& program, const models::Stack& stack, const models::Layout& layout,
                     OperationCosts& costs);

}  // namespace auspex::engine
