#pragma once
/// @file From the flags of `auspex campaign` to what is played.
#include <string>
#include <vector>

#include "campaign/setting.hpp"
#include "cli/flags/options.hpp"

namespace auspex::cli {

/// A campaign to play. Its setting has an interval of checkpoints, but for is_auto.
struct CampaignCase {
    campaign::Setting setting;
    bool is_auto = true;  ///< the best interval is to be found first
    std::string title;
    std::vector<std::string> notes;
};

/// Of --bare: all times and rates are given. Throws InputError for what is missing, contradicts, or cannot end.
[[nodiscard]] CampaignCase bare_campaign(const Options& options);

/// What both kinds take from flags: shares of hangs and NaN, watchdog, spares, blocks, maintenance, lemons, slow nodes.
/// The setting has its step, recovery and checkpoints already. Throws InputError as above.
void apply_campaign_flags(const CampaignFlags& flags, CampaignCase& to);

/// Source of failures of such a mean, spaced as --failures says. Throws InputError for a file of times that is none.
[[nodiscard]] campaign::FailureSource source_of(const CampaignFlags& flags, const std::string& component,
                                                double mean_s);

}  // namespace auspex::cli
