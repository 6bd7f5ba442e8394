#pragma once
/// @file auspex campaign --optimise: the best setting among many.
#include "cli/commands/campaign/ranges.hpp"
#include "cli/commands/campaign/varied_setting.hpp"
#include "report/campaign/campaign_optimum.hpp"

namespace auspex::cli {

/// A word of --optimise: spares, nodes or walltime, with a range where it has one.
struct OptimisedWord {
    std::string what;
    std::optional<Range> range;
};
/// Empty without --optimise. Throws InputError for words and ranges that are none, nodes with --bare or without
/// --tokens, walltime without a range and --walltime.
[[nodiscard]] std::vector<OptimisedWord> read_optimised(const Options& options);

/// All combinations of the words' values, and the setting that was given, compared by --objective; the interval is
/// always the best one. `result`: of `played`, whose spares and interval are settled. Without a range spares go from
/// none to twice what is needed, nodes by factors of two from a quarter to four times as many, walltime from a quarter
/// to all of
/// --walltime. Settings that cannot be played (a plan that does not divide or fit there, blocks too short) are left
/// out. Throws InputError where nothing but the given one can be played.
[[nodiscard]] report::CampaignOptimum optimised_campaign(const Options& options,
                                                         const std::vector<OptimisedWord>& words,
                                                         const CampaignCase& played, const campaign::Result& result);

}  // namespace auspex::cli
