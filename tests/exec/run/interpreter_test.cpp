/// @file The same step on one rank and on several: same loss, same gradients, whatever the layout; and what a step
/// leaves behind.
#include <gtest/gtest.h>

#include <numeric>

#include "../exec_fixture.hpp"
#include "base/error.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

/// The plan's batch on one rank.
models::Plan single_rank_of(const models::Plan& plan) {
    models::Plan single = single_plan();
    single.routing = plan.routing;
    single.micro_batches = plan.micro_batches * plan.dp * plan.ep;
    return single;
}

/// Sums in another order: 1e-12 of the largest element.
void expect_same_step(const models::Workload& workload, const models::Plan& plan) {
    const StepResult expected = one_step<Fp64>(run_inputs(workload, single_rank_of(plan)));
    const StepResult found = one_step<Fp64>(run_inputs(workload, plan));
    EXPECT_NEAR(found.loss.cross_entropy, expected.loss.cross_entropy, 1e-12);
    EXPECT_NEAR(found.loss.auxiliary, expected.loss.auxiliary, 1e-12);
    EXPECT_NEAR(found.loss.z, expected.loss.z, 1e-12);
    ASSERT_EQ(found.gradients.size(), expected.gradients.size());
    for (const auto& [name, gradient] : expected.gradients) {
        ASSERT_TRUE(found.gradients.contains(name)) << name;
        EXPECT_LT(relative_difference(found.gradients.at(name), gradient), 1e-12) << name;
    }
}

models::Workload deep(models::Workload workload) {
    workload.layers = 4;
    return workload;
}

models::Plan recomputed(models::Plan plan) {
    plan.recompute_norm = plan.recompute_attention = plan.recompute_expert = true;
    return plan;
}

models::Plan bf16(models::Plan plan) {
    plan.precision = "bf16", plan.weight_bytes = plan.gradient_bytes = 2;
    return plan;
}

models::Plan split_plan(bool sequence_parallel) {
    models::Plan plan = single_plan();
    plan.tp = plan.etp = 2;
    plan.sequence_parallel = sequence_parallel;
    return plan;
}

models::Plan pipeline_plan(models::ScheduleKind schedule) {
    models::Plan plan = single_plan();
    plan.pp = 2;
    plan.micro_batches = 4;
    plan.schedule = schedule;
    plan.virtual_stages = schedule == models::ScheduleKind::kInterleaved1f1b || is_v_shaped(schedule) ? 2 : 1;
    return plan;
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

/// Learned routing: every rank has to choose as the single rank does.
models::Plan routed(models::Plan plan, models::Dispatch dispatch, models::ExpertKernels kernels) {
    plan.routing.kind = models::RoutingDistribution::kLearned;
    plan.dispatch = dispatch;
    plan.expert_kernels = kernels;
    return plan;
}

template <class Check>
void for_each_expert_choice(const models::Plan& plan, Check&& check) {
    for (const models::Dispatch dispatch : {models::Dispatch::kAllGatherReduceScatter, models::Dispatch::kAllToAll}) {
        for (const models::ExpertKernels kernels :
             {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped, models::ExpertKernels::kFused}) {
            check(routed(plan, dispatch, kernels));
            check(recomputed(routed(plan, dispatch, kernels)));
        }
    }
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

TEST(MixtureLayouts, logits_of_all_layers_travel_to_the_last_stage_and_their_gradients_back) {
    models::Workload w = deep(mixture_model());
    w.global_aux_loss = true;
    w.first_dense_layers = 1, w.intermediate_size = 12;
    for (const models::ScheduleKind schedule :
         {models::ScheduleKind::kGpipe, models::ScheduleKind::k1f1b, models::ScheduleKind::kInterleaved1f1b}) {
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

void expect_only_states(const schedule::LabelBytes& live) {
    for (std::size_t label = 0; label < schedule::kMemoryLabelCount; ++label) {
        const bool is_state = label <= static_cast<std::size_t>(schedule::MemoryLabel::kMoments);
        EXPECT_TRUE(is_state || live[label] == 0) << to_string(static_cast<schedule::MemoryLabel>(label));
    }
}

/// Calls of one communication: tokens, choices and weights are gathered, gradients of tokens and weights scattered; of
/// rows that are sent the experts' numbers go first.
std::uint64_t calls_of(const schedule::Operation& op) {
    if (op.comm == schedule::CommKind::kNone || op.kind != schedule::OpKind::kTokenCommunication) {
        return op.comm == schedule::CommKind::kNone ? 0 : 1;
    }
    const std::uint64_t more = op.comm == schedule::CommKind::kAllToAll ? 0 : 1;
    return more + (op.phase == schedule::Phase::kForward || op.phase == schedule::Phase::kRecompute ? 2 : 1);
}

/// Every kind of operation as often as the program has it, and with the bytes that it says.
void expect_program_counts(const RunInputs& run, const std::vector<OperationCount>& counts, int rank) {
    std::vector<OperationCount> expected(counts.size());
    for (const schedule::BlockUse& use :
         run.program.roles[static_cast<std::size_t>(rank_coordinates(run.layout, rank).stage)].order) {
        for (const schedule::Operation& op : run.program.operations_of(run.program.blocks[use.block])) {
            OperationCount& count = expected[static_cast<std::size_t>(op.kind)];
            const auto repeat = static_cast<std::uint64_t>(op.repeat);
            count += {repeat, repeat * calls_of(op), op.repeat * op.bytes};
        }
    }
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        EXPECT_EQ(counts[kind].operations, expected[kind].operations) << to_string(static_cast<schedule::OpKind>(kind));
        EXPECT_EQ(counts[kind].messages, expected[kind].messages) << to_string(static_cast<schedule::OpKind>(kind));
        EXPECT_DOUBLE_EQ(counts[kind].bytes, expected[kind].bytes) << to_string(static_cast<schedule::OpKind>(kind));
    }
}

template <class P>
void expect_tidy_step(const models::Workload& workload, const models::Plan& plan) {
    const RunInputs run = run_inputs(workload, plan);
    const StepResult result = one_step<P>(run);
    for (std::size_t rank = 0; rank < result.live.size(); ++rank) {
        expect_only_states(result.live[rank]);
        expect_program_counts(run, result.counts[rank], static_cast<int>(rank));
    }
}

TEST(CollectiveStep, does_what_the_program_says_and_leaves_weights_gradients_and_states) {
    models::Plan plan = pipeline_plan(models::ScheduleKind::k1f1b);
    plan.tp = plan.etp = plan.dp = 2;
    for (const bool sequence_parallel : {false, true}) {
        plan.sequence_parallel = sequence_parallel;
        expect_tidy_step<Fp32>(dense_model(), plan);
        expect_tidy_step<Bf16Precision>(dense_model(), bf16(recomputed(plan)));
        expect_tidy_step<Fp32>(mixture_model(), plan);
        expect_tidy_step<Bf16Precision>(mixture_model(), bf16(recomputed(plan)));
        plan.ep = 2;
        expect_tidy_step<Fp32>(mixture_model(), plan);
        plan.dispatch = models::Dispatch::kAllGatherReduceScatter;
        expect_tidy_step<Fp32>(mixture_model(), plan);
        plan.ep = 1;
    }
}

TEST(CollectiveStep, gradients_begin_at_zero) {
    const RunInputs run = run_inputs(dense_model(), single_plan());
    const StepResult once = one_step<Fp64>(run);
    const StepResult twice = one_step<Fp64>(run, [](TestRank<Fp64>& test) { test.step(); });
    EXPECT_EQ(twice.gradients, once.gradients);
    EXPECT_EQ(twice.loss.cross_entropy, once.loss.cross_entropy);
}

TEST(CollectiveStep, replayed_routing_repeats_the_recorded_step_to_the_bit) {
    models::Plan plan = split_plan(true);
    plan.ep = 2;
    plan.routing.kind = models::RoutingDistribution::kLearned;
    const RunInputs run = run_inputs(mixture_model(), plan);
    models::RoutingRecord record = uneven_record(run);
    const models::RoutingRecord before = record;
    const StepResult learned = one_step<Fp32>(run, [&](TestRank<Fp32>& test) { test.routing.record = &record; });
    EXPECT_NE(record.choices, before.choices);
    const StepResult replayed = one_step<Fp32>(run, [&](TestRank<Fp32>& test) {
        test.routing = {RoutingMode::kReplayed, &record, nullptr};
    });
    EXPECT_EQ(replayed.gradients, learned.gradients);
    EXPECT_EQ(replayed.loss.cross_entropy, learned.loss.cross_entropy);
    const StepResult other = one_step<Fp32>(run, [&](TestRank<Fp32>& test) {
        test.routing = {RoutingMode::kReplayed, &before, nullptr};
    });
    EXPECT_NE(other.gradients, learned.gradients);
}

TEST(CollectiveStep, experts_that_no_token_chose_may_wait_for_their_gradients) {
    for (const models::Dispatch dispatch : {models::Dispatch::kAllGatherReduceScatter, models::Dispatch::kAllToAll}) {
        for (const int ep : {2, 4}) {
            const auto step_with = [&](models::ScheduleKind schedule) {
                models::Plan plan = routed(pipeline_plan(schedule), dispatch, models::ExpertKernels::kFused);
                plan.ep = ep;
                const RunInputs run = run_inputs(deep(mixture_model()), plan);
                models::RoutingRecord record = uneven_record(run);
                for (std::size_t i = 0; i < record.choices.size(); ++i) {  // the first ones only
                    record.choices[i] = static_cast<std::uint16_t>(i % static_cast<std::size_t>(record.top_k));
                }
                return one_step<Fp64>(run, [&](TestRank<Fp64>& test) {
                    test.routing = {RoutingMode::kReplayed, &record, nullptr};
                });
            };
            const StepResult whole = step_with(models::ScheduleKind::k1f1b);
            const StepResult apart = step_with(models::ScheduleKind::kZbH1);
            ASSERT_EQ(apart.gradients.size(), whole.gradients.size());
            for (const auto& [name, gradient] : whole.gradients) {
                EXPECT_LT(relative_difference(apart.gradients.at(name), gradient), 1e-12) << name;
            }
        }
    }
}

TEST(CollectiveStep, uniform_routing_deals_experts_out_in_turn) {
    std::vector<std::int64_t> choices(6);
    forced_choices({RoutingMode::kUniform, nullptr, nullptr}, 3, 1, 5, 4, 2, choices);
    EXPECT_EQ(choices, (std::vector<std::int64_t>{2, 3, 0, 1, 2, 3}));  // (5 * 2 + i) mod 4
}

TEST(CollectiveStep, a_record_without_the_step_is_refused) {
    const RunInputs run = run_inputs(mixture_model(), single_plan());
    const models::RoutingRecord record = uneven_record(run);
    const auto replay_late = [&](TestRank<Fp32>& test) {
        test.routing = {RoutingMode::kReplayed, &record, nullptr};
        test.rank.step = 1;
    };
    EXPECT_THROW(one_step<Fp32>(run, replay_late), InputError);
}

TEST(CollectiveStep, every_operation_is_a_span_of_its_stream) {
    const RunInputs run = run_inputs(dense_model(), single_plan());
    schedule::Timeline timeline = empty_rank_timeline(0);
    std::uint64_t operations = 0;
    one_step<Fp32>(run, [&](TestRank<Fp32>& test) {
        test.step(&timeline);
        for (const OperationCount& count : test.rank.counts) {
            operations += count.operations;
        }
    });
    ASSERT_EQ(timeline.spans.size(), operations);
    ASSERT_EQ(timeline.tracks.size(), schedule::kStreamCount);
    EXPECT_EQ(timeline.tracks[0].role, "rank 0");
    EXPECT_EQ(timeline.tracks[0].stream, "compute");
    EXPECT_EQ(timeline.names[timeline.spans.front().name], "embedding");
    for (std::size_t i = 1; i < timeline.spans.size(); ++i) {
        EXPECT_LE(timeline.spans[i - 1].end, timeline.spans[i].start);
    }
}

}  // namespace
}  // namespace auspex::exec
