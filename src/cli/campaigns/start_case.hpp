#pragma once
/// @file From inputs and a prediction to the job that starts: what it loads, what it indexes.
#include "campaign/start/start_job.hpp"
#include "cli/flags/campaign_options.hpp"
#include "models/inputs.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::cli {

/// Of the whole model, each once.
struct CheckpointBytes {
    double all = 0;    ///< weights, and what mixed precision keeps of each parameter
    double model = 0;  ///< weights alone
};
[[nodiscard]] CheckpointBytes checkpoint_bytes(const models::Inputs& inputs);

/// The checkpoint, read as the stack reads it: by one replica that broadcasts where the stack's file says so or says
/// nothing, and `may_broadcast`. Replicas are those of the experts; with fsdp the groups that shard by themselves.
[[nodiscard]] campaign::LoadSize load_of(const models::Inputs& inputs, const predict::Prediction& prediction,
                                         bool may_broadcast);

/// The job of a campaign: its start after an interruption, and with --build-index the index of so many tokens.
[[nodiscard]] campaign::StartJob start_job(const CampaignFlags& flags, const models::Inputs& inputs,
                                           const predict::Prediction& prediction, double tokens);

/// The same job on other nodes, all of their tiles in use: as many replicas as fit, one at least.
[[nodiscard]] campaign::StartJob on_other_nodes(const campaign::StartJob& job, int nodes, int tiles_of_node);

/// Sequences of an index of so many tokens.
[[nodiscard]] double index_sequences(const models::Workload& workload, double tokens);

}  // namespace auspex::cli
