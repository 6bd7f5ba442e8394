/// @file Words and keys of sharding.
#include "models/plan_file/read_sharding.hpp"

namespace auspex::models {
namespace {

constexpr std::int64_t kMaxReplicas = 16'777'216;
constexpr std::int64_t kMaxPrefetch = 1'000;

}  // namespace

void read_sharding(const JsonValue& root, Plan& plan) {
    if (const auto value = root.find("optimizer")) {
        constexpr OptimizerSharding kKinds[] = {OptimizerSharding::kReplicated, OptimizerSharding::kSharded,
                                                OptimizerSharding::kEpAware, OptimizerSharding::kZero2,
                                                OptimizerSharding::kFsdp};
        plan.optimizer = kKinds[value->as_one_of({"replicated", "sharded", "ep-aware", "zero-2", "fsdp"})];
    }
    if (const auto value = root.find("shard_replicas")) {
        plan.shard_replicas = static_cast<int>(value->as_integer(1, kMaxReplicas));
        if (plan.shard_replicas > 1 && !shards_in_groups(plan.optimizer)) {
            value->fail("1, or \"optimizer\": \"ep-aware\", \"zero-2\" or \"fsdp\"");
        }
    }
    const bool is_fsdp = plan.optimizer == OptimizerSharding::kFsdp;
    if (const auto value = root.find("reshard_after_forward")) {
        if (value->is_number()) {
            plan.reshard_ranks = static_cast<int>(value->as_integer(2, kMaxReplicas));
        } else if (value->is_bool()) {
            plan.reshard_after_forward = value->as_bool();
        } else {
            value->fail("true, false, or a number of ranks from 2");
        }
        if ((!plan.reshard_after_forward || plan.reshard_ranks > 0) && !is_fsdp) {
            value->fail("true, or \"optimizer\": \"fsdp\"");
        }
    }
    if (const auto value = root.find("prefetch")) {
        plan.prefetch = static_cast<int>(value->as_integer(0, kMaxPrefetch));
        if (plan.prefetch != 1 && !is_fsdp) {
            value->fail("1, or \"optimizer\": \"fsdp\"");
        }
    }
}

}  // namespace auspex::models
