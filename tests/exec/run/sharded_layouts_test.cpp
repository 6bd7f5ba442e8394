/// @file Sharded gradients and weights: the same step as on one rank, whatever is cut, gathered and summed over which
/// ranks.
#include <gtest/gtest.h>

#include "layout_plans.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

constexpr auto kZero2 = models::OptimizerSharding::kZero2, kFsdp = models::OptimizerSharding::kFsdp;

models::Plan sharded(models::Plan plan, models::OptimizerSharding optimizer, int dp, int replicas = 1) {
    plan.optimizer = optimizer;
    plan.dp = dp;
    plan.shard_replicas = replicas;
    return plan;
}

void expect_same_step(const models::Workload& workload, const models::Plan& plan) {
    SCOPED_TRACE(std::string(to_string(plan.optimizer)) + " dp " + std::to_string(plan.dp) + " replicas " +
                 std::to_string(plan.shard_replicas) + " tp " + std::to_string(plan.tp) + " ep " +
                 std::to_string(plan.ep) + " " + to_string(plan.schedule) + (plan.pp > 1 ? " pp" : "") + " ahead " +
                 std::to_string(plan.prefetch));
    EXPECT_EQ(unlike_one_rank(workload, plan), std::vector<std::string>{});
}

TEST(ShardedLayouts, over_all_ranks_or_in_groups) {
    for (const models::OptimizerSharding optimizer : {models::OptimizerSharding::kEpAware, kZero2, kFsdp}) {
        for (const auto& [dp, replicas] : {std::pair{1, 1}, {2, 1}, {3, 1}, {2, 2}, {4, 2}}) {
            expect_same_step(dense_model(), sharded(single_plan(), optimizer, dp, replicas));
            expect_same_step(mixture_model(), sharded(single_plan(), optimizer, dp, replicas));
        }
    }
}

TEST(ShardedLayouts, weights_gathered_ahead_or_kept_from_forward) {
    for (const int prefetch : {0, 1, 2, 9}) {
        models::Plan plan = sharded(single_plan(), kFsdp, 2);
        plan.prefetch = prefetch;
        expect_same_step(deep(dense_model()), recomputed(plan));
        plan.reshard_after_forward = false;
        expect_same_step(deep(mixture_model()), plan);
    }
}

TEST(ShardedLayouts, with_tp_ep_and_recompute) {
    for (const models::OptimizerSharding optimizer : {kZero2, kFsdp}) {
        for (const bool sequence_parallel : {false, true}) {
            for (const int dp : {1, 2}) {
                models::Plan plan = sharded(split_plan(sequence_parallel), optimizer, dp, dp);
                plan.ep = 2;
                expect_same_step(mixture_model(), plan);
                plan.shard_replicas = 1;
                expect_same_step(mixture_model(), recomputed(plan));
            }
        }
    }
}

TEST(ShardedLayouts, with_pp_in_every_order) {
    for (const models::ScheduleKind schedule : models::kScheduleKinds) {
        if (has_stages_twice(schedule)) {  // sums gradients once a step
            continue;
        }
        for (const models::OptimizerSharding optimizer : {kZero2, kFsdp}) {
            expect_same_step(deep(dense_model()), sharded(pipeline_plan(schedule), optimizer, 2));
            models::Plan plan = sharded(pipeline_plan(schedule), optimizer, 2, 2);
            plan.ep = 2;
            plan.reshard_after_forward = false;
            expect_same_step(deep(mixture_model()), recomputed(plan));
        }
    }
}

TEST(ShardedLayouts, one_table_for_both_ends) {
    for (const models::OptimizerSharding optimizer : {kZero2, kFsdp}) {
        for (const int replicas : {1, 2}) {
            expect_same_step(gpt_model(), sharded(split_plan(true), optimizer, 2, replicas));
            expect_same_step(gpt_model(), recomputed(sharded(single_plan(), optimizer, 4, replicas)));
        }
    }
}

}  // namespace
}  // namespace auspex::exec
