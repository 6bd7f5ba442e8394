#pragma once
/// @file What a training run has done, as the program that ran it says it and others read it.
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "exec/run/run_report.hpp"
#include "launch/run_folder.hpp"

namespace auspex::launch {

/// The steps of all launches; ranks and counts of the last.
struct TrainResult {
    /// Empty: it ended well. Else its last words, and behind a colon the last five lines of what mpirun said.
    std::string error{};
    int first_step = 0;  ///< of `steps`; without any, where the run would have begun
    std::vector<exec::StepReport> steps{};
    std::vector<exec::RankReport> ranks{};       ///< as read back: peaks, and peak_bytes
    std::vector<exec::OperationCount> counts{};  ///< by OpKind, of the last step, over all ranks
    std::vector<Restart> restarts{};
    std::vector<std::string> notes{};

    /// One number of each step.
    [[nodiscard]] std::vector<double> by_step(double exec::StepReport::*number) const;
    [[nodiscard]] std::vector<double> losses() const { return by_step(&exec::StepReport::loss); }
};

/// `folder`, if given, has the steps and restarts of all launches.
[[nodiscard]] TrainResult train_result(const exec::RunReport& report, const RunFolder* folder);

/// Members "first_step" to "notes" of an open object (docs/json-output.md).
void write_train_result(JsonWriter& json, const TrainResult& result);
/// The inverse: what write_train_result() wrote as members of the document's root. Throws InputError.
[[nodiscard]] TrainResult read_train_result(const JsonDocument& document);

}  // namespace auspex::launch
