#pragma once
/// @file Where errors of published runs come from: by what the predicted step is made of, and by what runs are like.
#include <optional>
#include <string>
#include <vector>

#include "compare/evaluate/runs/run_judgement.hpp"

namespace auspex::evaluate {

/// Seconds of a part over those of the predicted step.
[[nodiscard]] double share_of(const ValidatedRun& run, schedule::Loss loss);

/// Slope of y = ln(predicted / measured) over the share x of a part in the predicted step, each source by its own means
/// (x_s, y_s), so that what sources differ by does not count:
///   b = sum (x - x_s) (y - y_s) / sum (x - x_s)^2,   error^2 = sum of squared residuals / (n - sources - 1) / sum (x -
///   x_s)^2
/// Where a part is predicted 1 + e times as long as it is, and all others as they are, b is close to e.
struct ShareSlope {
    double value = 0, error = 0;  ///< one standard deviation
    int n = 0, sources = 0;       ///< of sources with two cases or more
};
/// Nothing where shares differ by less than a hundredth inside sources, or n - sources - 1 < 5.
[[nodiscard]] std::optional<ShareSlope> share_slope(const std::vector<const ValidatedRun*>& runs, schedule::Loss loss);

/// Errors where a part is more than a tenth of the predicted step, and where it is not.
struct MechanismErrors {
    schedule::Loss loss{};
    RunSummary more, less;
    int more_sources = 0;  ///< those that the cases of `more` come from
    std::optional<ShareSlope> slope;
};
inline constexpr double kLargeShare = 0.1;
/// Of every part that some run has, in the order of losses.
[[nodiscard]] std::vector<MechanismErrors> errors_by_mechanism(const std::vector<const ValidatedRun*>& runs);

/// Errors of the runs with a property: "fp8", "weights sharded (FSDP, ZeRO-3)", …
struct TraitErrors {
    std::string of, trait;  ///< what is told apart: "precision"; and the property: "fp8"
    RunSummary errors;
    int sources = 0;
};
/// Properties that no run has are left out.
[[nodiscard]] std::vector<TraitErrors> errors_by_trait(const std::vector<const ValidatedRun*>& runs);

/// Predicted runs that gave no constant.
[[nodiscard]] std::vector<const ValidatedRun*> verified(const std::vector<ValidatedRun>& runs);

}  // namespace auspex::evaluate
