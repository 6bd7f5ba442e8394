#pragma once
/// @file What a run must fulfil before it starts.
#include "exec/data/training_data.hpp"
#include "exec/run/run_options.hpp"
#include "exec/state/run_settings.hpp"

namespace auspex::exec {

/// Throws InputError: number formats or an operation that the executor does not have; sequences of another length,
/// tokens beyond the workload's vocabulary; recorded routing of another model or batch.
void check_run(const RunInputs& run, const RunOptions& options, const TrainingData& data);

/// Who chooses experts in steps [first_step, end_step), by the plan. Throws InputError where a record lacks some of
/// them.
[[nodiscard]] RoutingSource routing_of(const RunInputs& run, int first_step, int end_step);

}  // namespace auspex::exec
