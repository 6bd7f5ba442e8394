#pragma once
/// @file Runs that are killed, resumed elsewhere, or begin from what another run left.
#include <functional>

#include "report/training/executor_report.hpp"
#include "workflows/verify/session.hpp"

namespace auspex::workflows {

/// How many checks there will be.
[[nodiscard]] std::size_t recovery_count(int kills);

/// `kills` supervised runs in which one rank is killed, in turn: at a random moment; while a checkpoint is being
/// written; by the rank itself before a step; by itself inside a checkpoint. Then once each: resumed on another grid;
/// begun from a model without optimizer states; resumed with a damaged newest checkpoint. `on_check` is called after
/// each. Throws InputError where the model does not fit, std::runtime_error where a run that nothing happens to fails.
void check_recovery(const VerifySession& session, int kills,
                    const std::function<void(report::RecoveryCheck)>& on_check);

}  // namespace auspex::workflows
