#pragma once
/// @file The order of a pipeline's passes as torch.distributed.pipelining keeps it in files.
#include <string>

#include "models/plan.hpp"

namespace auspex::schedule {

/// One line a pipeline rank, in the order of ranks; a cell a pass: STAGE, F or B, MICRO_BATCH. STAGE counts virtual
/// stages, chunk * pp + rank ("loop" order of torch); B is a whole backward pass (inputs and weights). Cells follow one
/// another without the empty ones that torch's own files have where a rank waits: "compute_only" of
/// _PipelineScheduleRuntime._load_csv, which adds communication itself. Requires a resolved plan.
[[nodiscard]] std::string pipeline_csv(const models::Plan& plan);

}  // namespace auspex::schedule
