#pragma once
/// @file Orders of passes as torch.distributed.pipelining keeps them in files.
#include <string>

#include "schedule/orders/pipeline_pass.hpp"

namespace auspex::schedule {

/// One line a rank, a cell a pass: STAGE, a letter (F, I: gradient of the input, W: of the weights, B: both), and
/// MICRO_BATCH, as "3F0"; a pair side by side as "(3F4;4B1)OVERLAP_F_B". Without the empty cells that torch's own files
/// have where a rank waits: "compute_only" of _PipelineScheduleRuntime._load_csv, which adds communication itself.
[[nodiscard]] std::string order_csv(const PipelineOrder& order);

/// Reads such a file, empty cells too; numbers of stages and micro-batches are those that it has. Throws InputError for
/// what is no such cell, and what check_order refuses.
[[nodiscard]] PipelineOrder read_order_csv(const std::string& text, const std::string& name);

}  // namespace auspex::schedule
