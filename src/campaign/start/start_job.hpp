#pragma once
/// @file A job that is to start: what it loads, what it indexes.
#include <optional>

#include "campaign/start/load_time.hpp"
#include "models/inputs.hpp"

namespace auspex::campaign {

/// Of the whole model, each once.
struct CheckpointBytes {
    double all = 0;    ///< weights, and what mixed precision keeps of each parameter
    double model = 0;  ///< weights alone
};
[[nodiscard]] CheckpointBytes checkpoint_bytes(const models::Inputs& inputs);

/// Of a plan laid over a machine.
struct JobSize {
    int nodes = 1, ranks = 1, dp = 1;
};
/// The checkpoint, read as the stack reads it: by one replica that broadcasts where the stack's file says so or says
/// nothing, and `may_broadcast`. Replicas are those of the experts; with fsdp the groups that shard by themselves.
[[nodiscard]] LoadSize load_of(const models::Inputs& inputs, const JobSize& size, bool may_broadcast);

/// Sequences of an index of so many tokens.
[[nodiscard]] double index_sequences(const models::Workload& workload, double tokens);

/// A job, and what it leaves out of what makes starts short.
struct StartJob {
    int nodes = 1, ranks = 1;
    double queue_wait_s = 0;
    bool stages_environment = true;  ///< an archive goes to every node; false: every rank imports from the shared one
    double index_sequences = 0;      ///< of a new index; 0: it is there already
    bool indexes_in_parallel = true;
    std::optional<LoadSize> load;  ///< none: nothing is loaded
    double first_step_s = 0;       ///< 0: not known
};

/// The same job on other nodes, all of their tiles in use: as many replicas as fit, one at least.
[[nodiscard]] StartJob on_other_nodes(const StartJob& job, int nodes, int tiles_of_node);

}  // namespace auspex::campaign
