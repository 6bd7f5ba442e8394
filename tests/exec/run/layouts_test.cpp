/// @file The same step on one rank and on several: same loss, same gradients, whatever the layout.
#include <gtest/gtest.h>

#include "layout_plans.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

void expect_same_step(const models::Workload& workload, const models::Plan& plan) {
    EXPECT_EQ(unlike_one_rank(workload, plan), std::vector<std::string>{});
}

TEST(DenseLayouts, tp_splits_matrices) {
    models::Workload w = dense_model();
    for (const bool qk_norm : {false, true}) {
        w.qk_norm = qk_norm;
        expect_same_step(w, split_plan(false));
        expect_same_step(w, recomputed(split_plan(false)));
    }
}

TEST(DenseLayouts, tp_splits_matrices_and_sequences) {
    models::Workload w = dense_model();
    for (const bool qk_norm : {false, true}) {
        w.qk_norm = qk_norm;
        expect_same_step(w, split_plan(true));
        expect_same_step(w, recomputed(split_plan(true)));
    }
}

TEST(DenseLayouts, tied_table_over_tp) {
    models::Workload w = dense_model();
    w.tied_embeddings = true;
    expect_same_step(w, split_plan(true));
}

TEST(DenseLayouts, pp_in_every_order) {
    for (const models::ScheduleKind schedule : models::kScheduleKinds) {
        SCOPED_TRACE(to_string(schedule));
        models::Plan plan = pipeline_plan(schedule);
        models::Workload w = deep(dense_model());
        expect_same_step(w, plan);
        w.qk_norm = true;
        expect_same_step(w, recomputed(plan));
        plan.tp = plan.etp = 2;
        expect_same_step(w, plan);
        plan.sequence_parallel = true;
        expect_same_step(w, plan);
        expect_same_step(w, recomputed(plan));
    }
}

TEST(DenseLayouts, pp_of_four_stages_in_orders_with_weight_gradients_apart) {
    models::Workload w = dense_model();
    w.layers = 9;
    for (const models::ScheduleKind schedule : models::kScheduleKinds) {
        SCOPED_TRACE(to_string(schedule));
        models::Plan plan = pipeline_plan(schedule);
        plan.pp = 4;
        plan.micro_batches = 12;
        expect_same_step(w, plan);
    }
}

TEST(DenseLayouts, a_v_has_both_ends_of_a_tied_table_on_one_rank) {
    models::Workload w = deep(dense_model());
    w.tied_embeddings = true;
    expect_same_step(w, pipeline_plan(models::ScheduleKind::kZbv));
    expect_same_step(w, pipeline_plan(models::ScheduleKind::kDualPipe));
}

TEST(DenseLayouts, pp_of_three_stages_with_uneven_layers) {
    models::Plan plan = pipeline_plan(models::ScheduleKind::k1f1b);
    plan.pp = 3;
    expect_same_step(deep(dense_model()), plan);
}

TEST(DenseLayouts, dp_with_every_optimizer) {
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
          models::OptimizerSharding::kEpAware}) {
        models::Plan plan = single_plan();
        plan.dp = 2;
        plan.optimizer = optimizer;
        expect_same_step(dense_model(), plan);
    }
}

TEST(DenseLayouts, tp_pp_and_dp_together) {
    models::Plan plan = pipeline_plan(models::ScheduleKind::kInterleaved1f1b);
    plan.tp = plan.etp = plan.dp = 2;
    plan.sequence_parallel = true;
    expect_same_step(deep(dense_model()), recomputed(plan));
}

TEST(MixtureLayouts, ep_shares_experts_out) {
    for (const int ep : {1, 2, 4}) {
        models::Plan plan = single_plan();
        plan.ep = ep;
        for_each_expert_choice(plan, [](const models::Plan& p) { expect_same_step(mixture_model(), p); });
    }
}

TEST(MixtureLayouts, tp_splits_experts) {
    for (const bool sequence_parallel : {false, true}) {
        for_each_expert_choice(split_plan(sequence_parallel),
                               [](const models::Plan& p) { expect_same_step(mixture_model(), p); });
    }
}

TEST(MixtureLayouts, ep_tp_and_dp_together) {
    for (const bool sequence_parallel : {false, true}) {
        models::Plan plan = split_plan(sequence_parallel);
        plan.ep = plan.dp = 2;
        for_each_expert_choice(plan, [](const models::Plan& p) { expect_same_step(mixture_model(), p); });
    }
}

TEST(MixtureLayouts, weight_gradients_of_experts_wait_in_every_dispatch_and_kernel) {
    models::Workload w = deep(mixture_model());
    w.first_dense_layers = 1, w.intermediate_size = 12;
    for (const models::ScheduleKind schedule : {models::ScheduleKind::kZbH2, models::ScheduleKind::kZbv}) {
        for (const int ep : {1, 2, 4}) {
            models::Plan plan = pipeline_plan(schedule);
            plan.ep = ep;
            for_each_expert_choice(plan, [&](const models::Plan& p) { expect_same_step(w, p); });
        }
        models::Plan sliced = pipeline_plan(schedule);
        sliced.tp = sliced.etp = sliced.ep = 2;
        sliced.sequence_parallel = true;
        for_each_expert_choice(sliced, [&](const models::Plan& p) { expect_same_step(w, p); });
    }
}

TEST(MixtureLayouts, ep_with_every_optimizer) {
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
          models::OptimizerSharding::kEpAware}) {
        models::Plan plan = single_plan();
        plan.ep = plan.dp = 2;
        plan.optimizer = optimizer;
        expect_same_step(mixture_model(), plan);
    }
}

/// Of the tokens of one rank: as many wherever a rank routes whole micro-batches of one size.
TEST(MixtureLayouts, experts_without_room_for_all) {
    models::Workload w = mixture_model();
    for (const double factor : {0.5, 1.0}) {
        w.capacity_factor = factor;
        for (const int ep : {1, 2, 4}) {
            models::Plan plan = split_plan(ep == 2);
            plan.ep = ep;
            for_each_expert_choice(plan, [&](const models::Plan& p) { expect_same_step(w, p); });
        }
        models::Workload four = deep(w);
        models::Plan plan = pipeline_plan(models::ScheduleKind::kZbv);
        plan.ep = 2;
        for_each_expert_choice(plan, [&](const models::Plan& p) { expect_same_step(four, p); });
    }
}

TEST(MixtureLayouts, logits_of_all_layers_travel_to_the_last_stage_and_their_gradients_back) {
    models::Workload w = deep(mixture_model());
    w.global_aux_loss = true;
    w.first_dense_layers = 1, w.intermediate_size = 12;
    for (const models::ScheduleKind schedule : models::kScheduleKinds) {
        SCOPED_TRACE(to_string(schedule));
        models::Plan plan = pipeline_plan(schedule);
        plan.routing.kind = models::RoutingDistribution::kLearned;
        expect_same_step(w, plan);
        plan.tp = plan.etp = plan.ep = 2;
        plan.sequence_parallel = true;
        expect_same_step(w, recomputed(plan));
    }
}

/// Rounded alike, logits give the head the probabilities and choices that the routers had.
TEST(MixtureLayouts, a_global_auxiliary_loss_of_one_layer_is_that_of_the_layer) {
    models::Training training = still_training();
    training.auxiliary_loss = 0.5;
    models::Workload w = mixture_model();
    w.first_dense_layers = 1, w.intermediate_size = 12, w.num_experts = 8, w.top_k = 3;
    models::Plan plan = bf16(single_plan());
    for (const models::RoutingDistribution routing :
         {models::RoutingDistribution::kLearned, models::RoutingDistribution::kUniform}) {
        plan.routing.kind = routing;
        const StepResult of_layer = one_step<Bf16Precision>(run_inputs(w, plan, training));
        w.global_aux_loss = true;
        const StepResult global = one_step<Bf16Precision>(run_inputs(w, plan, training));
        w.global_aux_loss = false;
        EXPECT_GT(of_layer.loss.auxiliary, 0);
        EXPECT_EQ(global.loss.auxiliary, of_layer.loss.auxiliary);
        EXPECT_EQ(global.loss.cross_entropy, of_layer.loss.cross_entropy);
        EXPECT_EQ(global.loss.z, of_layer.loss.z);
        for (const auto& [name, gradient] : of_layer.gradients) {  // those of logits are rounded on their way back
            EXPECT_LT(relative_difference(global.gradients.at(name), gradient), 0.02) << name;
        }
    }
}

}  // namespace
}  // namespace auspex::exec
