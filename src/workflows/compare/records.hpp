#pragma once
/// @file What each run of a comparison gave, kept line by line, so that a comparison that was interrupted goes on.
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compare/evaluate/comparison.hpp"

namespace auspex::workflows {

/// All that a run depends on: name of each thing ("plan", "steps", "trainer", …) to a digest of it. Runs are
/// comparable if all of it is the same.
using RunOrigin = std::map<std::string, std::string>;

/// One `auspex train`.
struct CaseRun {
    std::string plan, workload;
    RunOrigin origin;
    int round = 0;
    double step_s = 0;       ///< median of its steps at full speed; of all its steps where there are too few of those
    double probe_s = 0;      ///< median of the probes around the same steps (StepReport::probe_s)
    bool is_slowed = false;  ///< there were too few
    double background_share = 0;            ///< of the cores' time, that others had while it ran
    std::vector<int> background_processes;  ///< by core: processes of others that could always run (background_by_core)
    bool is_disturbed = false;
    [[nodiscard]] bool is_valid() const { return !is_slowed && !is_disturbed; }
    double memory_bytes = 0;                          ///< peak of the fullest rank
    double traced_s = 0;                              ///< the step that was traced, its last one
    double traced_probe_s = 0;                        ///< of the probes around that step
    std::vector<evaluate::OperationPair> operations;  ///< of that step: measured_s only
};

/// The same run as a comparison sees it. `reference_probe_s`: of the calibration; 0: not known, speeds are not either.
[[nodiscard]] evaluate::ComparedRun compared_run(const CaseRun& run, double reference_probe_s);

/// One line of JSON.
[[nodiscard]] std::string to_json_line(const CaseRun& run);

/// What a file of runs has for a comparison that goes on.
struct EarlierRuns {
    std::vector<std::string> lines;  ///< all, without a last one that was cut off
    std::vector<CaseRun> runs;       ///< of those lines, the runs of this comparison's layouts and of their origin
    std::string note;                ///< how many lines were not taken, and what of their origin differs; empty: none
};
/// `origin_of`: of a layout of this comparison; null for others. Throws InputError for a file that is no such list.
[[nodiscard]] EarlierRuns read_case_runs(
    const std::string& file,
    const std::function<const RunOrigin*(const std::string& plan, const std::string& workload)>& origin_of);

/// A file of runs that grows: a line is with the system once add() has returned.
class RunRecords {
 public:
    /// `file` may be empty: nothing is kept. It begins with `lines`, and is replaced at once, so that an interruption
    /// loses none of them. Throws InputError where it cannot be written.
    RunRecords(std::string file, const std::vector<std::string>& lines);
    void add(const CaseRun& run);

 private:
    std::string file_;
    std::ofstream out_;
};

}  // namespace auspex::workflows
