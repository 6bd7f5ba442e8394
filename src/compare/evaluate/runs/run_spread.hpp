#pragma once
/// @file What predictions of published runs are off by beyond the uncertainties of constants, and intervals with it.
#include <cstddef>
#include <vector>

#include "compare/evaluate/runs/run_judgement.hpp"

namespace auspex::evaluate {

/// The sigma that has to come on top of the interval of constants for a case's 90 % interval just to hold the measured
/// step: with z = 1.645, and s = ln(high / predicted) / z of constants (low, where the step was shorter),
///   t = sqrt(max(0, (ln(predicted / measured) / z)^2 - s^2))
[[nodiscard]] double missing_sigma(const ValidatedRun& run);

/// Of all runs, of those with each stack, on each machine, and of each stack on each machine, as far as there are
/// kLeastRunsOfSpread of them, and kLeastSourcesOfSpread with kLeastRunsOfSource each: runs of one source are off in
/// one way, and say nothing of another's. Sigma is the 90th percentile of their missing_sigma, so that with it
/// intervals hold in 90 % of them. All runs come first, others by name. Runs without a prediction and corrected ones
/// count in none, nor do those of source `without`; fitted ones count: a few constants do not take the errors of many
/// away.
inline constexpr std::ptrdiff_t kLeastSourcesOfSpread = 2;
inline constexpr int kLeastRunsOfSource = 2;
[[nodiscard]] std::vector<models::PublishedSpread> spreads_of(const std::vector<ValidatedRun>& runs,
                                                              const std::string* without = nullptr);

/// Sets the spread by which each case is judged, find_spread() of the other sources' cases, and widens its interval:
/// what a case is judged by knows nothing of its source. Where there are too few others, it is that of `shipped`, and
/// without one the interval is that of constants alone.
void judge_intervals(std::vector<ValidatedRun>& runs, const std::vector<models::PublishedSpread>& shipped);

}  // namespace auspex::evaluate
