#pragma once
/// @file Times of operations, measured and predicted: out of timelines, over runs, over layouts.
#include <cstddef>
#include <vector>

#include "compare/evaluate/compared_cases.hpp"

namespace auspex::evaluate {

/// Whether a run's traced step stands for its steps: cores had their full speed around it, and
/// |traced_s / step_s - 1| <= 10 %.
[[nodiscard]] bool trace_is_typical(const ComparedRun& run);
/// Runs with a trace, by index, as they stand for their case, best first: those that count before others; among these
/// the typical before others; among these by |ln(traced_s / median)|, the median that of the steps that count.
[[nodiscard]] std::vector<std::size_t> runs_by_trace(const ComparedCase& one);
/// Fills `operations` (measured_s) of the case, the median over its typical traces of runs that count (of all where
/// none counts), and `operations_are_typical`. Where none is typical they are those of the first of runs_by_trace().
void take_operations(ComparedCase& one);

/// Time of each operation name in a step, the mean over ranks (roles of the tracks), largest first. `predicted_s` of
/// the pairs is 0.
[[nodiscard]] std::vector<OperationPair> operation_times(const schedule::Timeline& timeline);
/// Names of both, most measured time first.
[[nodiscard]] std::vector<OperationPair> pair_operations(const std::vector<OperationPair>& measured,
                                                         const std::vector<OperationPair>& predicted);
/// Those of `operations` whose |predicted_s - measured_s| is largest, that first; `count` of them, or all.
[[nodiscard]] std::vector<OperationPair> largest_errors(std::vector<OperationPair> operations, std::size_t count);
/// Summed over cases, by name, most measured time first.
[[nodiscard]] std::vector<OperationPair> summed_operations(const std::vector<ComparedCase>& cases);

}  // namespace auspex::evaluate
