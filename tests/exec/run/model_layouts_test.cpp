/// @file Models with more than plain attention and experts: the same step on one rank and on several.
#include <gtest/gtest.h>

#include "layout_plans.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

void expect_same_step(const models::Workload& workload, const models::Plan& plan) {
    EXPECT_EQ(unlike_one_rank(workload, plan), std::vector<std::string>{});
}

/// Whole and in slices over tp, with ep, in every dispatch and kernel, recomputed or not.
void expect_same_step_over_tp_and_ep(const models::Workload& w) {
    for (const bool sequence_parallel : {false, true}) {
        for (const int ep : {1, 2, 4}) {
            models::Plan plan = split_plan(sequence_parallel);
            plan.ep = ep;
            for_each_expert_choice(plan, [&](const models::Plan& p) { expect_same_step(w, p); });
        }
    }
}

/// In every order of passes, with weight gradients apart or not; of mixtures also in slices, over ep.
void expect_same_step_in_every_order(const models::Workload& w) {
    for (const models::ScheduleKind schedule : models::kScheduleKinds) {
        SCOPED_TRACE(to_string(schedule));
        models::Plan plan = pipeline_plan(schedule);
        expect_same_step(w, plan);
        expect_same_step(w, recomputed(plan));
        plan.tp = plan.etp = 2;
        plan.sequence_parallel = true;
        plan.ep = w.num_experts > 0 ? 2 : 1;
        for (const models::Dispatch dispatch :
             {models::Dispatch::kAllGatherReduceScatter, models::Dispatch::kAllToAll}) {
            plan.dispatch = dispatch;
            expect_same_step(w, plan);
            expect_same_step(w, recomputed(plan));
        }
    }
}

models::Workload shared_model() {
    models::Workload w = mixture_model();
    w.shared_experts = 2;
    return w;
}

TEST(SharedExpertLayouts, ep_and_tp_in_every_dispatch_and_kernel) { expect_same_step_over_tp_and_ep(shared_model()); }

TEST(SharedExpertLayouts, pp_in_every_order_behind_a_dense_layer) {
    models::Workload w = deep(shared_model());
    w.first_dense_layers = 1, w.intermediate_size = 12;
    expect_same_step_in_every_order(w);
}

TEST(SharedExpertLayouts, ep_with_every_optimizer) {
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
          models::OptimizerSharding::kEpAware}) {
        models::Plan plan = split_plan(true);
        plan.ep = plan.dp = 2;
        plan.optimizer = optimizer;
        expect_same_step(shared_model(), plan);
    }
}

TEST(GptLayouts, tp_splits_biases_but_those_of_its_sums) {
    for (const bool sequence_parallel : {false, true}) {
        expect_same_step(gpt_model(), split_plan(sequence_parallel));
        expect_same_step(gpt_model(), recomputed(split_plan(sequence_parallel)));
    }
}

TEST(GptLayouts, pp_in_every_order) { expect_same_step_in_every_order(deep(gpt_model())); }

TEST(GptLayouts, experts_with_gelu_and_biases_over_tp_and_ep) {
    models::Workload w = gpt_mixture_model();
    expect_same_step_over_tp_and_ep(w);
    w.shared_experts = 1, w.feed_forward = models::FeedForward::kSwiGlu;
    expect_same_step_over_tp_and_ep(w);
}

TEST(GptLayouts, experts_with_gelu_and_biases_in_every_order) {
    models::Workload w = deep(gpt_mixture_model());
    w.first_dense_layers = 1, w.intermediate_size = 12, w.shared_experts = 1;
    expect_same_step_in_every_order(w);
}

TEST(GptLayouts, layer_norms_of_experts) {
    models::Workload w = shared_model();
    w.norm = models::NormKind::kLayer;
    expect_same_step_over_tp_and_ep(w);
}

TEST(TiedLayouts, both_ends_of_the_model_add_up_the_gradients_of_their_table_in_every_order) {
    models::Workload w = deep(dense_model());
    w.tied_embeddings = true;
    expect_same_step_in_every_order(w);
}

TEST(TiedLayouts, every_optimizer_shards_the_table_of_either_end_its_own_way) {
    models::Workload w = deep(mixture_model());
    w.tied_embeddings = true;
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
          models::OptimizerSharding::kEpAware}) {
        models::Plan plan = split_plan(true);
        plan.pp = 3, plan.dp = 2, plan.optimizer = optimizer;
        expect_same_step(w, plan);
        plan.tp = plan.etp = 1, plan.ep = 2;
        expect_same_step(w, plan);
    }
}

models::Workload untied_or_tied(bool tied, int modules) {
    models::Workload w = predicting(deep(dense_model()), modules);
    w.tied_embeddings = tied;
    return w;
}

TEST(PredictionLayouts, tp_splits_their_table_and_slices_their_tokens) {
    for (const bool tied : {false, true}) {
        for (const int modules : {1, 2}) {
            const models::Workload w = untied_or_tied(tied, modules);
            for (const bool sequence_parallel : {false, true}) {
                expect_same_step(w, split_plan(sequence_parallel));
                expect_same_step(w, recomputed(split_plan(sequence_parallel)));
            }
        }
    }
    models::Workload w = predicting(gpt_model(), 1);
    expect_same_step(w, split_plan(true));
    w = predicting(mixture_model(), 2);
    w.shared_experts = 1, w.router_bias = true;
    expect_same_step_over_tp_and_ep(w);
}

TEST(PredictionLayouts, pp_has_the_embedding_a_second_time_in_every_order) {
    for (const bool tied : {false, true}) {
        expect_same_step_in_every_order(untied_or_tied(tied, 2));
    }
    models::Workload w = predicting(deep(latent(shared_model(), 6)), 1);
    w.first_dense_layers = 1, w.intermediate_size = 12;
    expect_same_step_in_every_order(w);
}

TEST(PredictionLayouts, dp_with_every_optimizer_and_cp) {
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
          models::OptimizerSharding::kEpAware}) {
        models::Plan plan = split_plan(true);
        plan.pp = 2, plan.dp = 2, plan.optimizer = optimizer;
        expect_same_step(untied_or_tied(false, 1), plan);
        plan.cp = 2, plan.context = models::ContextParallel::kRing;
        models::Workload w = untied_or_tied(true, 2);
        w.sequence_length = 16;
        expect_same_step(w, plan);
    }
}

TEST(LatentAttentionLayouts, tp_splits_heads_and_every_rank_makes_the_latents) {
    for (const int q_rank : {0, 6}) {
        const models::Workload w = latent(dense_model(), q_rank);
        for (const bool sequence_parallel : {false, true}) {
            expect_same_step(w, split_plan(sequence_parallel));
            expect_same_step(w, recomputed(split_plan(sequence_parallel)));
        }
        models::Plan four = split_plan(false);
        four.tp = four.etp = 4;
        expect_same_step(w, four);
    }
}

TEST(LatentAttentionLayouts, pp_in_every_order) {
    for (const int q_rank : {0, 6}) {
        expect_same_step_in_every_order(deep(latent(dense_model(), q_rank)));
    }
}

TEST(LatentAttentionLayouts, with_shared_experts_in_every_order) {
    models::Workload w = deep(latent(shared_model(), 6));
    w.first_dense_layers = 1, w.intermediate_size = 12;
    expect_same_step_in_every_order(w);
}

}  // namespace
}  // namespace auspex::exec
