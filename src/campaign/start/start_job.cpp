/// @file Checkpoints and jobs of a plan.
#include "campaign/start/start_job.hpp"

#include <algorithm>
#include <cmath>

#include "models/data/index_build.hpp"

namespace auspex::campaign {

CheckpointBytes checkpoint_bytes(const models::Inputs& inputs) {
    const double parameters = count_parameters(inputs.workload).total();
    const double model = parameters * inputs.plan.weight_bytes;
    return {model + parameters * (master_bytes(inputs.plan) + moment_bytes(inputs.plan)), model};
}

LoadSize load_of(const models::Inputs& inputs, const JobSize& size, bool may_broadcast) {
    const CheckpointBytes bytes = checkpoint_bytes(inputs);
    const std::optional<models::StackStartup>& stack = inputs.stack.startup;
    LoadSize load;
    load.bytes = bytes.all;
    load.model_bytes = bytes.model;
    load.nodes = size.nodes;
    load.ranks = size.ranks;
    load.replicas = inputs.plan.optimizer == models::OptimizerSharding::kFsdp ? std::max(inputs.plan.shard_replicas, 1)
                                                                              : std::max(size.dp, 1);
    const int tiles = inputs.machine.node.tiles;
    load.replica_nodes = std::max(static_cast<int>(std::ceil(size.ranks / load.replicas / tiles)), 1);
    load.is_broadcast = may_broadcast && (!stack || stack->broadcasts_model);
    load.reads_all_shards = stack && stack->reads_all_shards;
    return load;
}

double index_sequences(const models::Workload& workload, double tokens) {
    return models::index_of_tokens(tokens, workload.sequence_length, 1).sequences;
}

StartJob on_other_nodes(const StartJob& job, int nodes, int tiles_of_node) {
    StartJob other = job;
    other.nodes = nodes;
    other.ranks = nodes * tiles_of_node;
    if (other.load) {
        LoadSize& load = *other.load;
        const double replica_ranks = load.ranks / load.replicas;
        load.nodes = nodes;
        load.ranks = other.ranks;
        load.replicas = std::max(std::floor(other.ranks / replica_ranks), 1.0);
    }
    return other;
}

}  // namespace auspex::campaign
