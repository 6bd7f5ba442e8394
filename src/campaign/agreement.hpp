#pragma once
/// @file Closed forms beside what was played, and why they differ where they do.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/closed_forms.hpp"

namespace auspex::campaign {

struct Agreement {
    PoissonRun run;                               ///< all sources as one, a restart as long as theirs are in the mean
    double young_s = 0, daly_s = 0, exact_s = 0;  ///< intervals
    double exact_efficiency = 0;                  ///< at the interval that was played
    double expected_elapsed_s = 0;                ///< of the whole run, run_time_s
    double played_elapsed_s = 0, error_s = 0;     ///< mean, and its standard error
    bool agrees = false;                          ///< within four of these
    std::vector<std::string> broken;  ///< what of the setting the closed form does not have; empty where both agree
    std::optional<std::int64_t> spare_quantile;  ///< 99 %, of a binomial over nodes and spare_window_s
};

/// All sources as one, which interrupts at random with a restart as long as theirs are in the mean. Its mtbf_s is
/// infinite without failures.
[[nodiscard]] PoissonRun poisson_run_of(const Setting& setting);

/// None without failures, for then there is nothing to compare.
[[nodiscard]] std::optional<Agreement> compare_with_closed_forms(const Setting& setting, const Result& result);

}  // namespace auspex::campaign
