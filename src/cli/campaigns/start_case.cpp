/// @file Jobs that start, by their prediction.
#include "cli/campaigns/start_case.hpp"

#include <algorithm>
#include <cmath>

#include "cli/campaigns/campaign_case.hpp"
#include "models/data/index_build.hpp"

namespace auspex::cli {

CheckpointBytes checkpoint_bytes(const models::Inputs& inputs) {
    const double parameters = count_parameters(inputs.workload).total();
    const double model = parameters * inputs.plan.weight_bytes;
    return {model + parameters * (master_bytes(inputs.plan) + moment_bytes(inputs.plan)), model};
}

campaign::LoadSize load_of(const models::Inputs& inputs, const predict::Prediction& p, bool may_broadcast) {
    const CheckpointBytes bytes = checkpoint_bytes(inputs);
    const std::optional<models::StackStartup>& stack = inputs.stack.startup;
    campaign::LoadSize load;
    load.bytes = bytes.all;
    load.model_bytes = bytes.model;
    load.nodes = p.nodes;
    load.ranks = p.tiles;
    load.replicas = inputs.plan.optimizer == models::OptimizerSharding::kFsdp ? std::max(inputs.plan.shard_replicas, 1)
                                                                              : std::max(p.dp, 1);
    const int tiles = inputs.machine.node.tiles;
    load.replica_nodes = std::max(static_cast<int>(std::ceil(p.tiles / load.replicas / tiles)), 1);
    load.is_broadcast = may_broadcast && (!stack || stack->broadcasts_model);
    load.reads_all_shards = stack && stack->reads_all_shards;
    return load;
}

campaign::StartJob start_job(const CampaignFlags& flags, const models::Inputs& inputs, const predict::Prediction& p,
                             double tokens) {
    campaign::StartJob job;
    job.nodes = p.nodes;
    job.ranks = p.tiles;
    job.load = load_of(inputs, p, !is_without(flags, "scattered"));
    job.index_sequences = flags.builds_index ? index_sequences(inputs.workload, tokens) : 0;
    return job;
}

campaign::StartJob on_other_nodes(const campaign::StartJob& job, int nodes, int tiles_of_node) {
    campaign::StartJob other = job;
    other.nodes = nodes;
    other.ranks = nodes * tiles_of_node;
    if (other.load) {
        campaign::LoadSize& load = *other.load;
        const double replica_ranks = load.ranks / load.replicas;
        load.nodes = nodes;
        load.ranks = other.ranks;
        load.replicas = std::max(std::floor(other.ranks / replica_ranks), 1.0);
    }
    return other;
}

double index_sequences(const models::Workload& workload, double tokens) {
    return models::index_of_tokens(tokens, workload.sequence_length, 1).sequences;
}

}  // namespace auspex::cli
