#pragma once
/// @file Campaigns that differ from one another in one number.
#include "cli/campaigns/campaign_case.hpp"
#include "report/campaign/campaign_page.hpp"

namespace auspex::cli {

/// Of --vary WORD=FROM:TO:N. `played` has an interval of checkpoints. Throws InputError for a word, a range or a value
/// that cannot be played.
[[nodiscard]] report::CampaignCurve varied_campaigns(const Options& options, const CampaignCase& played);

/// From no spare node to twice as many as are needed, in nine steps at most. Requires a setting with spares.
[[nodiscard]] report::CampaignCurve spares_curve(const Options& options, const campaign::Setting& setting,
                                                 std::int64_t needed);

}  // namespace auspex::cli
