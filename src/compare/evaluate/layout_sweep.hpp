#pragma once
/// @file A measured sweep of layouts: one row a run, as a CSV file.
#include <optional>
#include <string>
#include <vector>

#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::evaluate {

enum class SweepStatus {
    kOk,           ///< ran
    kOutOfMemory,  ///< did not fit
    kOther         ///< failed for another reason: says nothing of memory
};

/// One run. docs/layout-search.md has the columns.
struct SweepRow {
    std::string place;    ///< "file.csv:12"
    double params_b = 0;  ///< 1e9 parameters of the model as its table names it; with `nodes` the cell
    int nodes = 1;
    models::Workload workload;
    int tp = 1, pp = 1, dp = 1, zero_stage = 0, micro_batch_size = 1, micro_batches = 1;
    SweepStatus status = SweepStatus::kOther;
    double tokens_per_s_per_tile = 0;  ///< kOk
    std::optional<double> allocated_bytes, reserved_bytes;
    bool after_pp_fix = false;  ///< ran with the later software
    bool speed_counts = true;   ///< false: ran with a defect of the software, or did not run

    [[nodiscard]] double tokens_per_step() const {
        return static_cast<double>(dp) * micro_batch_size * micro_batches * workload.sequence_length;
    }
};

/// Reads the file. What the table does not have is inferred: the width of the feed-forward is the multiple of 256 with
/// which the model has `params_b` (total_parameters where a row of the model has it), tied embeddings are those of
/// the model's other rows. Throws InputError naming file, line, column, value found and what is allowed.
[[nodiscard]] std::vector<SweepRow> load_layout_sweep(const std::string& file);
[[nodiscard]] std::vector<SweepRow> parse_layout_sweep(const std::string& text, const std::string& name);

/// The plan of a row: its grid, batch and optimizer (zero_stage 0: replicated, 1: sharded, 3: fsdp), the base's rest;
/// sequence parallelism as in the base, where tp > 1.
[[nodiscard]] models::Plan plan_of(const SweepRow& row, const models::Plan& base);

}  // namespace auspex::evaluate
