#pragma once
/// @file From the flags of `auspex campaign` to what is played.
#include <string>
#include <vector>

#include "campaign/setting.hpp"
#include "cli/flags/options.hpp"
#include "cli/output/campaign/campaign_output.hpp"
#include "report/parts/input_file.hpp"

namespace auspex::cli {

/// The same campaign without one of its features.
struct CampaignWithout {
    std::string feature;
    campaign::Setting setting;
};

/// A campaign to play. Its setting has an interval of checkpoints, but for is_auto.
struct CampaignCase {
    campaign::Setting setting;
    bool is_auto = true;  ///< the best interval is to be found first
    std::string title;
    std::optional<PredictedRun> run;        ///< not with --bare
    std::vector<CampaignWithout> without;   ///< a setting for each feature, to say what it is worth
    std::vector<report::InputFile> inputs;  ///< not with --bare
    std::vector<std::string> notes;
};

/// Of --bare: all times and rates are given. Throws InputError for what is missing, contradicts, or cannot end.
[[nodiscard]] CampaignCase bare_campaign(const Options& options);
/// The step is predicted, failures and checkpoints are those of the machine's file, unless flags give them. Throws
/// InputError as above, and what loading inputs and predicting throw.
[[nodiscard]] CampaignCase predicted_campaign(const Options& options);

/// What both kinds take from flags: shares of hangs and NaN, watchdog, spares, blocks, maintenance, lemons, slow nodes,
/// interval. The setting has its step, failures, recovery and checkpoints already. Throws InputError as above.
void apply_campaign_flags(const CampaignFlags& flags, CampaignCase& to);

/// Throws InputError for a run that nothing lets end: spares that never come back, hangs that nothing ends, blocks too
/// short for a step.
void check_that_it_can_end(const CampaignFlags& flags, const campaign::Setting& setting);

/// Source of failures of such a mean, spaced as --failures says. Throws InputError for a file of times that is none.
[[nodiscard]] campaign::FailureSource source_of(const CampaignFlags& flags, const std::string& component,
                                                double mean_s);

/// True where --without names this feature.
[[nodiscard]] bool is_without(const CampaignFlags& flags, const char* feature);
/// Throws InputError for a word of --without that is not among these.
void check_without(const CampaignFlags& flags, const std::vector<std::string>& features);

}  // namespace auspex::cli
