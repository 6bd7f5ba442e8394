/// @file The same step where ranks share sequences, whichever way they reach keys and values, and on one rank.
#include <gtest/gtest.h>

#include "layout_plans.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;
using Kind = models::ContextParallel;

/// As many tokens as four cp ranks have a part from both ends of.
models::Workload with_parts(models::Workload w) {
    w.sequence_length = 16;
    return w;
}

models::Plan context_plan(Kind kind, int cp, int all_to_all = 1) {
    models::Plan plan = single_plan();
    plan.cp = plan.dp = cp;
    plan.context = kind;
    plan.context_all_to_all = all_to_all;
    return plan;
}

std::vector<models::Plan> context_plans() {
    return {context_plan(Kind::kAllGather, 2),  context_plan(Kind::kAllGather, 4), context_plan(Kind::kAllToAll, 2),
            context_plan(Kind::kAllToAll, 4),   context_plan(Kind::kRing, 2),      context_plan(Kind::kRing, 4),
            context_plan(Kind::kTwoLevel, 4, 2)};
}

void expect_same_step(const models::Workload& workload, const models::Plan& plan) {
    SCOPED_TRACE(std::string(to_string(plan.context)) + " of " + std::to_string(plan.cp));
    EXPECT_EQ(unlike_one_rank(workload, plan), std::vector<std::string>{});
}

TEST(ContextLayouts, ranks_share_sequences) {
    models::Workload w = with_parts(dense_model());
    for (const models::Plan& plan : context_plans()) {
        for (const bool qk_norm : {false, true}) {
            w.qk_norm = qk_norm;
            expect_same_step(w, plan);
            expect_same_step(w, recomputed(plan));
        }
    }
}

TEST(ContextLayouts, keys_of_one_head_go_to_all_that_have_queries_for_it) {
    models::Workload w = with_parts(dense_model());
    w.kv_heads = 1;
    for (const models::Plan& plan : context_plans()) {
        expect_same_step(w, plan);
    }
}

TEST(ContextLayouts, windows_of_some_layers) {
    for (const models::Workload& plain : {with_parts(dense_model()), latent(with_parts(dense_model()), 6)}) {
        models::Workload w = windowed(plain);
        for (const models::Plan& plan : context_plans()) {
            for (const int window : {1, 3, 5, 15}) {
                w.window = window;
                expect_same_step(w, plan);
            }
        }
    }
}

TEST(ContextLayouts, latents) {
    for (const int q_rank : {0, 6}) {
        const models::Workload w = latent(with_parts(dense_model()), q_rank);
        for (const models::Plan& plan : context_plans()) {
            expect_same_step(w, plan);
        }
    }
}

TEST(ContextLayouts, learned_positions_and_biases) {
    for (const models::Plan& plan : context_plans()) {
        expect_same_step(with_parts(gpt_model()), plan);
    }
}

TEST(ContextLayouts, a_sequence_of_no_two_parts_a_rank_is_dealt_out_in_one) {
    models::Workload w = dense_model();  // of six tokens
    expect_same_step(w, context_plan(Kind::kAllGather, 2));
    expect_same_step(w, context_plan(Kind::kAllToAll, 2));
}

TEST(ContextLayouts, with_tp_pp_and_weight_gradients_apart) {
    models::Workload w = deep(with_parts(dense_model()));
    w.qk_norm = true;
    for (const models::Plan& shared : context_plans()) {
        models::Plan plan = pipeline_plan(models::ScheduleKind::kZbH2);
        plan.cp = plan.dp = 2;
        plan.context = shared.context == Kind::kTwoLevel ? Kind::kRing : shared.context;
        plan.tp = plan.etp = 2;
        expect_same_step(w, plan);
        plan.sequence_parallel = true;
        expect_same_step(w, recomputed(plan));
    }
}

TEST(ContextLayouts, experts_and_their_balance) {
    for (const models::Plan& shared : context_plans()) {
        models::Plan plan = shared;
        plan.ep = 2, plan.dp /= 2;
        for_each_expert_choice(plan, [](const models::Plan& p) { expect_same_step(with_parts(mixture_model()), p); });
    }
}

TEST(ContextLayouts, optimizers_are_sharded_over_all_ranks_that_hold_the_same) {
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
          models::OptimizerSharding::kEpAware}) {
        models::Plan plan = context_plan(Kind::kRing, 2);
        plan.dp = plan.ep = 2;
        plan.optimizer = optimizer;
        expect_same_step(with_parts(mixture_model()), plan);
    }
}

}  // namespace
}  // namespace auspex::exec
