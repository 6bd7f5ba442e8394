#pragma once
/// @file What the trainer cannot do: asked before a run, and before ranks of a CPU machine are predicted.
#include <string>
#include <vector>

#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// Everything of this program that the executor has no kernel or call for, one line each, empty if it can run:
/// "operation key_value_gather: context parallelism is not bound". Checks the operations, and what the workload
/// and plan ask of them (biases, shared experts, etp != tp, fsdp, overlap, tied embeddings over several stages, …).
[[nodiscard]] std::vector<std::string> unbound_operations(const models::Workload& workload, const models::Plan& plan,
                                                          const models::Stack& stack, const Program& program);

/// Whether there is nothing of that: what predictions call executor_proven.
[[nodiscard]] bool executor_runs(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                                 const Program& program);

/// What a run refuses although every operation is bound, likewise: a stack that would change weights by gradients that
/// nobody has looked at, or that leaves the loss of several ranks apart; routing that cannot be forced on tokens.
[[nodiscard]] std::vector<std::string> refused_settings(const models::Workload& workload, const models::Plan& plan,
                                                        const models::Stack& stack);

}  // namespace auspex::schedule
