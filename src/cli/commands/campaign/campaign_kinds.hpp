#pragma once
/// @file The two kinds of campaigns that `auspex campaign` plays.
#include "cli/campaigns/campaign_case.hpp"

namespace auspex::cli {

/// Of --bare: all times and rates are given. Throws InputError for what is missing, contradicts, or cannot end.
[[nodiscard]] CampaignCase bare_campaign(const Options& options);
/// The step is predicted, failures and checkpoints are those of the machine's file, unless flags give them. Throws
/// InputError as above, and what loading inputs and predicting throw.
[[nodiscard]] CampaignCase predicted_campaign(const Options& options);

}  // namespace auspex::cli
