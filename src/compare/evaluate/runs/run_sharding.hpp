#pragma once
/// @file What a published run shards over its data-parallel ranks, in the plan's words.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published/published_run.hpp"

namespace auspex::evaluate {

struct RunSharding {
    std::string optimizer;       ///< plan.optimizer
    int replicas = 1;            ///< plan.shard_replicas
    int reshard_ranks = 0;       ///< plan.reshard_after_forward as a number; 0: none
    bool keeps_weights = false;  ///< plan.reshard_after_forward false
    std::vector<std::string> notes;
};
/// Data-parallel ranks of the dense part, and replicas of an expert (plan.dp).
struct DataParallel {
    int dense = 1, expert = 1;
};

/// As the case's `zero` and `fsdp` say, or the framework's default. Throws InputError for words that mean nothing here,
/// states in host memory, and groups that do not divide the ranks.
[[nodiscard]] RunSharding sharding_of(const PublishedRun& run, const RunNames::Framework& framework,
                                      DataParallel ranks);

}  // namespace auspex::evaluate
