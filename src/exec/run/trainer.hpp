#pragma once
/// @file A run of many steps on one rank: data, steps, checkpoints, reports. The same function runs under every
/// transport.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/run/run_options.hpp"
#include "exec/run/run_report.hpp"
#include "exec/state/run_settings.hpp"
#include "exec/transport/communicator.hpp"

namespace auspex::exec {

/// Runs on the calling rank; precision follows the plan. `on_step` is called on rank 0 after each step, `on_note` with
/// what a user should know (which checkpoint is used and why). Throws InputError, SoftFailure, CheckpointError,
/// CommunicationError.
[[nodiscard]] RunReport train(const RunInputs& run, const RunOptions& options, Communicator& communicator,
                              const std::function<void(const StepReport&)>& on_step,
                              const std::function<void(const std::string&)>& on_note);

}  // namespace auspex::exec
