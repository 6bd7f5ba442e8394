#pragma once
/// @file Runs every layout of a comparison several times, round-robin, with probes of the cores between steps.
#include <optional>
#include <string>
#include <vector>

#include "schedule/timeline.hpp"
#include "workflows/compare/cases.hpp"
#include "workflows/compare/records.hpp"

namespace auspex::workflows {

/// What the runs share.
struct RunPlan {
    std::string scratch;
    double reference_probe_s = 0;    ///< of the calibration; 0: not known
    std::vector<double> expected_s;  ///< a step of each case, as predicted: how many steps a run gets
    EarlierRuns earlier;             ///< of a comparison that goes on
    std::string records;             ///< file of all runs; empty: none
    std::string traces;              ///< folder for a trace of each case; empty: none is kept
};

/// One layout, measured.
struct MeasuredCase {
    std::vector<CaseRun> runs;  ///< by round, those that count and others; those before one that failed, too
    std::optional<schedule::Timeline> timeline;  ///< of the run that stands best for them: the first of runs_by_trace()
    std::string error;                           ///< of a run that failed, behind `runs`: the case is not run again
};

/// Round r runs every case, beginning at another one each time, so that drift affects all equally, but those of which
/// `repeats` runs count already; there are three rounds for each repeat at most. A run counts if cores had their full
/// speed (has_full_speed of the probes between its steps) around at least three steps and
/// half of them, and nothing else ran meanwhile. It has as many steps as 0.7 s have, at least 15 (6 to 14 where
/// those would take above 5 s) and at most 60, and two more that are left out; but at least `steps` in all. Throws
/// Interrupted (launch/train/child_run.hpp), InputError where a file of `out` can no longer be written.
[[nodiscard]] std::vector<MeasuredCase> measure_cases(const CompareRequest& request,
                                                      const std::vector<CompareCase>& cases, const RunPlan& plan);

}  // namespace auspex::workflows
