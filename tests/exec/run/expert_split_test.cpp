/// @file Experts split over fewer ranks than the rest of a layer, or over more: the same step as on one rank.
#include <gtest/gtest.h>

#include "layout_plans.hpp"
#include "schedule/bindings/bindings.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

/// Tokens in eight slices.
models::Workload sliced_model() {
    models::Workload w = mixture_model();
    w.sequence_length = 16;
    return w;
}
models::Workload shared_model() {
    models::Workload w = sliced_model();
    w.shared_experts = 2;
    return w;
}

/// Of at least four ranks a stage, dp and ep as wide as they have to be.
models::Plan expert_plan(int tp, int etp, int ep, bool sequence_parallel) {
    models::Plan plan = single_plan();
    plan.tp = tp, plan.etp = etp, plan.ep = ep, plan.etp_given = true;
    plan.dp = std::max(1, 4 / (etp * ep));
    plan.sequence_parallel = sequence_parallel;
    return plan;
}

bool is_bound(const models::Workload& workload, const models::Plan& plan) {
    const RunInputs run = run_inputs(workload, plan);
    return executor_runs(run.workload, run.plan, run.stack, run.program);
}

void expect_same_step(const models::Workload& workload, const models::Plan& plan) {
    SCOPED_TRACE("tp " + std::to_string(plan.tp) + " etp " + std::to_string(plan.etp) + " ep " +
                 std::to_string(plan.ep) + (plan.sequence_parallel ? " sliced " : " ") + to_string(plan.dispatch) +
                 " " + to_string(plan.expert_kernels) + (plan.recompute.expert ? " recomputed" : ""));
    EXPECT_EQ(unlike_one_rank(workload, plan), std::vector<std::string>{});
}

/// Every dispatch and kernel, recomputed or not; how many of them are refused.
int check_all(const models::Workload& workload, const models::Plan& plan) {
    int refused = 0;
    for_each_expert_choice(
        plan, [&](const models::Plan& p) { is_bound(workload, p) ? expect_same_step(workload, p) : void(++refused); });
    return refused;
}

TEST(ExpertSplits, over_fewer_ranks_each_routes_a_slice) {
    for (const bool sliced : {false, true}) {
        for (const int ep : {1, 2, 4}) {
            EXPECT_EQ(check_all(sliced_model(), expert_plan(2, 1, ep, sliced)), 0);
        }
        EXPECT_EQ(check_all(sliced_model(), expert_plan(2, 1, 2, sliced)), 0);
    }
}

TEST(ExpertSplits, over_some_of_the_tp_ranks) {
    models::Workload w = shared_model();
    w.kv_heads = w.heads;
    w.expert_size = 8;
    for (const bool sliced : {false, true}) {
        EXPECT_EQ(check_all(w, expert_plan(4, 2, 2, sliced)), 0);
    }
}

TEST(ExpertSplits, over_more_ranks_tokens_of_several_are_gathered) {
    for (const bool sliced : {false, true}) {
        for (const int ep : {1, 2}) {
            EXPECT_EQ(check_all(sliced_model(), expert_plan(1, 2, ep, sliced)), 0);
            models::Workload w = sliced_model();
            w.expert_size = 8;
            EXPECT_EQ(check_all(w, expert_plan(2, 4, ep, sliced)), 0);
        }
    }
}

TEST(ExpertSplits, shared_experts_have_sums_of_their_own) {
    models::Workload w = shared_model();
    w.expert_size = 8;
    for (const bool sliced : {false, true}) {
        for (const int ep : {1, 2}) {
            EXPECT_EQ(check_all(w, expert_plan(2, 1, ep, sliced)), 0);
            EXPECT_EQ(check_all(w, expert_plan(1, 2, ep, sliced)), 0);
            // rows that are sent, not recomputed: three kernels
            EXPECT_EQ(check_all(w, expert_plan(2, 4, ep, sliced)), sliced && ep > 1 ? 3 : 0);
        }
    }
}

TEST(ExpertSplits, weight_gradients_apart) {
    for (models::Workload w : {deep(sliced_model()), deep(shared_model())}) {
        w.first_dense_layers = 1, w.intermediate_size = 12;
        for (const bool sliced : {false, true}) {
            for (const auto& [tp, etp] : {std::pair{2, 1}, {1, 2}}) {
                models::Plan plan = expert_plan(tp, etp, 2, sliced);
                plan.pp = 2, plan.micro_batches = 4;
                plan.schedule = models::ScheduleKind::kZbH2;
                EXPECT_EQ(check_all(w, plan), 0);
            }
        }
    }
}

TEST(ExpertSplits, sequences_shared_by_cp_ranks_are_counted_over_all_that_route_them) {
    for (const bool sliced : {false, true}) {
        models::Plan plan = expert_plan(2, 1, 2, sliced);
        plan.cp = 2;
        plan.context = models::ContextParallel::kRing;
        EXPECT_EQ(check_all(sliced_model(), plan), 0);
    }
}

}  // namespace
}  // namespace auspex::exec
