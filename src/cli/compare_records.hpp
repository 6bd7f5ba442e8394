#pragma once
/// @file What each run of a comparison gave, kept line by line, so that a comparison that was interrupted goes on.
#include <fstream>
#include <string>
#include <vector>

#include "compare/comparison.hpp"

namespace auspex {

/// One `auspex train`.
struct CaseRun {
    std::string plan, workload, fingerprint;  ///< of its case
    int round = 0;
    double step_s = 0;        ///< median of its steps at full speed; of all its steps where there are too few of those
    double probe_s = 0;       ///< median of the probes around the same steps (StepReport::probe_s)
    bool is_slowed = false;   ///< there were too few
    double others_share = 0;  ///< of the cores' time, that others had while it ran
    bool is_disturbed = false;
    [[nodiscard]] bool counts() const { return !is_slowed && !is_disturbed; }
    double memory_bytes = 0;                ///< peak of the fullest rank
    double traced_s = 0;                    ///< the step that was traced
    std::vector<OperationPair> operations;  ///< of that step: measured_s only
};

/// One line of JSON.
[[nodiscard]] std::string to_json_line(const CaseRun& run);
/// Of a file's lines; the last one is dropped if it was cut off. Throws InputError for a file that is no such list.
[[nodiscard]] std::vector<CaseRun> read_case_runs(const std::string& file);

/// Lines behind those that a file has, each on the disk once add() has returned.
class RunRecords {
 public:
    /// `file` may be empty: nothing is kept. Begins anew with `runs`. Throws InputError where it cannot be written.
    RunRecords(std::string file, const std::vector<CaseRun>& runs);
    void add(const CaseRun& run);

 private:
    std::string file_;
    std::ofstream out_;
};

}  // namespace auspex
