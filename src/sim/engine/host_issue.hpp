#pragma once
/// @file What issuing a pass takes the host.
#include "models/layout.hpp"
#include "schedule/program/program.hpp"

namespace auspex::engine {

/// Seconds that the host needs to issue a block: stack.issue_s, or plain_issue_s, for every kernel (of the backward
/// pass backward_launch_ratio times as many, GEMMs, casts of their operands and attention apart; where it
/// issues_each_expert one an expert of a grouped product and of its casts), for every communication collective_issue_s,
/// and where the job spans nodes collective_check_s for each rank of its group, reduce-scatters and gathers of
/// gradients and parameters apart, which carry many tensors at once.
[[nodiscard]] double host_issue_s(const schedule::Program& program, const schedule::Block& block,
                                  const models::Stack& stack, const models::Layout& layout);

}  // namespace auspex::engine
