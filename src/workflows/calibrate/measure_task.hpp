#pragma once
/// @file What `auspex calibrate` asks auspex-mpi to measure, and the file in which both keep what is measured.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "models/measurement.hpp"

namespace auspex::workflows {

/// First argument of auspex-mpi where it measures; arguments_of(task) follow.
inline constexpr const char* kMeasureRole = "measure";

/// One launch.
struct MeasureTask {
    std::string file;   ///< rank 0 appends to it
    std::string stack;  ///< file or name: how ranks are bound and wait, and how collectives go
    bool kernels = false, sharing = false, messages = false;
    double kernels_s = 0, sharing_s = 0, messages_s = 0;  ///< to be spent on each, about
    double undisturbed_probe_s = 0;       ///< probes of a core at its full speed take up to this (CoreProbe); 0: all do
    std::vector<std::string> precisions;  ///< of kernels: "fp32", "bf16"
};

/// As arguments of auspex-mpi, and back from those behind the first. Throws InputError.
[[nodiscard]] std::vector<std::string> arguments_of(const MeasureTask& task);
[[nodiscard]] MeasureTask measure_task(const std::vector<std::string>& words);

/// A file of measurements that grows row by row; what was written is there after a kill.
class MeasurementFile {
 public:
    /// Throws InputError where the file is there and is no file of measurements, or has an incomplete last line.
    explicit MeasurementFile(std::string file);

    [[nodiscard]] const std::vector<models::Measurement>& rows() const { return rows_; }
    /// Is there a row of the same thing? Seconds, spread, count and source are not compared.
    [[nodiscard]] bool has(const models::Measurement& row) const;
    /// At the end, at once. Throws std::runtime_error where it cannot be written.
    void append(const models::Measurement& row);

 private:
    std::string file_;
    std::vector<models::Measurement> rows_;
    std::set<std::string> names_;  ///< of what was measured
};

}  // namespace auspex::workflows
