#pragma once
/// @file Pictures of a validation.
#include <string>
#include <vector>

#include "compare/evaluate/runs/run_judgement.hpp"

namespace auspex::report {

/// Cases with one colour and mark.
struct ScatterGroup {
    std::string name;
    std::vector<const evaluate::ValidatedRun*> runs;
};
/// Predicted cases by machine, the largest group first.
[[nodiscard]] std::vector<ScatterGroup> by_machine(const std::vector<evaluate::ValidatedRun>& runs);
[[nodiscard]] std::vector<ScatterGroup> by_source(const ScatterGroup& group);

/// Predicted against measured steps, both axes logarithmic and alike, with the diagonal, a band of ± 10 % around it
/// and, if wanted, the 90 % interval of each case. Inline SVG. Requires a run.
[[nodiscard]] std::string scatter_chart(const std::string& title, const std::vector<ScatterGroup>& groups,
                                        bool has_intervals, double width);

/// What the predicted steps of these runs are made of, over the measured steps. Inline SVG. Requires a run.
[[nodiscard]] std::string parts_chart(const std::vector<const evaluate::ValidatedRun*>& runs, double width);

}  // namespace auspex::report
