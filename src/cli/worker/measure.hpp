#pragma once
/// @file What auspex-mpi does for `auspex calibrate`.
#include <string>
#include <vector>

#include "exec/mpi/mpi_session.hpp"
#include "workflows/calibrate/measure_task.hpp"

namespace auspex::cli {

/// Runs on every rank. `arguments`: those behind kMeasureRole. Returns the exit code; throws InputError.
[[nodiscard]] int run_measure_role(const std::vector<std::string>& arguments, const exec::MpiSession& session);

}  // namespace auspex::cli
