#pragma once
/// @file A trace beside a prediction, from inputs to the whole diff.
#include <optional>
#include <string>

#include "compare/kineto/account/run_diff.hpp"
#include "models/inputs.hpp"

namespace auspex::kineto {

struct RunRequest {
    std::string traces;                ///< file or folder
    int tiles = 0;                     ///< 0: what the plan's dp gives, else the trace's world size
    std::optional<std::int64_t> step;  ///< of ProfilerStep#N
    std::optional<int> rank;           ///< of a single trace that does not say it, or says it of another grid
};

/// Reads the traces, cuts out one step of all ranks, predicts the plan's, and sets them side by side. Throws InputError
/// for traces and steps that cannot be used (read_trace.hpp, step_windows.hpp), for a rank outside the plan's grid, and
/// for a plan of another size than the trace's world.
[[nodiscard]] RunDiff compare_run(const models::Inputs& inputs, const RunRequest& request);

}  // namespace auspex::kineto
