#pragma once
/// @file From a prediction to a campaign on top of it: what `auspex campaign` and `auspex plan --objective finish-by`
/// play.
#include "cli/campaigns/campaign_case.hpp"
#include "models/inputs.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::cli {

/// A run of --tokens or --steps: steps of the predicted length, with its interval where the prediction has one; bytes
/// of a checkpoint by model and plan; failures, storage and restart of the machine's file unless flags give them;
/// blocks, spares and the rest by flags. Notes are those of the start; title and features are left empty. Throws
/// InputError for a run that is not given or too long, more nodes than the machine has, and as apply_campaign_flags.
[[nodiscard]] CampaignCase predicted_setting(const Options& options, const models::Inputs& inputs,
                                             const predict::Prediction& prediction);

}  // namespace auspex::cli
