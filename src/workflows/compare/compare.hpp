#pragma once
/// @file A comparison from start to end: real layouts, what they take, and what is predicted of them.
#include <string>

#include "compare/evaluate/comparison.hpp"
#include "launch/output_locks.hpp"
#include "workflows/compare/request.hpp"

namespace auspex::workflows {

struct Compared {
    evaluate::Comparison comparison;
    std::string machine;  ///< its name
};

/// File of all runs; empty without `out`.
[[nodiscard]] std::string records_of(const CompareRequest& request);

/// Predicts and runs every layout. `locks` then hold `out`, for the report to go there. Throws Interrupted
/// (launch/train/child_run.hpp), behind which runs are in records_of(); InputError where inputs do not fit, or `out`
/// has the runs of an earlier comparison that this one does not go on with; std::runtime_error where no layout ran.
[[nodiscard]] Compared compare_layouts(const CompareRequest& request, launch::OutputLocks& locks);

}  // namespace auspex::workflows
