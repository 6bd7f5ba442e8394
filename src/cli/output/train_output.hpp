#pragma once
/// @file What a training run prints and writes; rank 0 does it.
#include <iosfwd>
#include <string>
#include <vector>

#include "cli/flags/options.hpp"
#include "exec/run/trainer.hpp"
#include "launch/train/train_result.hpp"

namespace auspex::cli {

/// "step 12  loss 6.1234  gradient norm 1.234  learning rate 3.0e-03  12,345 tokens/s  34.5 ms"
[[nodiscard]] std::string step_line(const exec::StepReport& report);

/// First and last loss, tokens per second (without the first step, where there are more), memory of the fullest rank,
/// and the files that were written.
[[nodiscard]] std::string summary_text(const Options& options, const launch::TrainResult& result);
/// One JSON object: inputs, ranks, global batch and the result (docs/json-output.md).
void write_train_json(std::ostream& out, const Options& options, const exec::RunInputs& run,
                      const launch::TrainResult& result);

/// The files of --trace and --plot. Throws InputError where they cannot be written.
void write_train_files(const Options& options, const exec::RunInputs& run, const std::vector<exec::StepReport>& steps,
                       const schedule::Timeline& timeline);

}  // namespace auspex::cli
