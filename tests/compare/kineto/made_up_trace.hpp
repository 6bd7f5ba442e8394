#pragma once
/// @file Traces with the structure of published CUDA and XPU ones, made from a step that was simulated: what ran, how
/// long, and what went wrong are known.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compare/kineto/match/predicted_rank.hpp"
#include "models/inputs.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::testing_traces {

/// What is done to the step while it is written.
struct Edits {
    double products = 1;                                 ///< factor on the times of matrix products
    double memory = 1;                                   ///< of kernels bound by memory
    std::map<schedule::CommKind, double> collectives{};  ///< factors by kind
    int host_gaps = 0;  ///< that many times, evenly over the passes, the device waits for the host
    double host_gap_s = 200e-6;
    int unknown_kernels = 0;  ///< of a name that nobody knows, likewise
    double unknown_s = 300e-6;
    double step_host_s = 0;  ///< behind the last kernel
    bool is_xpu = false;
    bool has_launches = true, has_shapes = true, has_collective_facts = true, has_steps = true, has_job = true;
    int steps = 2;
};

/// The JSON of one rank.
[[nodiscard]] std::string trace_text(const models::Inputs& inputs, const predict::SimulatedStep& step, int rank,
                                     const Edits& edits = {});

/// A folder that goes away, with a file for each rank.
class TraceFolder {
 public:
    TraceFolder();
    ~TraceFolder();
    TraceFolder(const TraceFolder&) = delete;
    TraceFolder& operator=(const TraceFolder&) = delete;
    [[nodiscard]] std::string path() const { return path_; }
    /// Name of the written file.
    std::string write(const std::string& name, const std::string& text) const;

 private:
    std::string path_;
};

/// With its timeline.
[[nodiscard]] predict::SimulatedStep played(const models::Inputs& inputs, int tiles = 0);

/// Shipped files by name, with changes of the plan's, workload's … documents ("plan.dp", "2").
[[nodiscard]] models::Inputs inputs_of(const std::string& machine, const std::string& stack,
                                       const std::string& workload, const std::string& plan,
                                       const std::vector<std::pair<std::string, std::string>>& changes = {});

}  // namespace auspex::testing_traces
