/// @file What a step does, and leaves behind.
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.hpp"
#include "layout_plans.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

void expect_only_states(const schedule::LabelBytes& live) {
    for (std::size_t label = 0; label < schedule::kMemoryLabelCount; ++label) {
        const bool is_state = label <= static_cast<std::size_t>(schedule::MemoryLabel::kMoments);
        EXPECT_TRUE(is_state || live[label] == 0) << to_string(static_cast<schedule::MemoryLabel>(label));
    }
}

/// Calls of one communication: tokens, choices and weights are gathered, gradients of tokens and weights scattered; of
/// rows that are sent the experts' numbers go first. Copies to the host and back ask nobody.
std::uint64_t calls_of(const schedule::Operation& op) {
    if (op.comm == schedule::CommKind::kNone || schedule::is_host_copy(op.comm)) {
        return 0;
    }
    if (op.kind != schedule::OpKind::kTokenCommunication) {
        return 1;
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

TEST(Step, copies_to_the_host_are_counted_as_the_program_has_them) {
    models::Plan plan = pipeline_plan(models::ScheduleKind::k1f1b);
    plan.offload_layers = 1;
    expect_tidy_step<Fp32>(dense_model(), plan);
    expect_tidy_step<Bf16Precision>(mixture_model(), bf16(plan));
    plan.tp = plan.etp = plan.dp = plan.ep = 2;
    expect_tidy_step<Fp32>(mixture_model(), plan);
    expect_tidy_step<Fp32>(mixture_model(), recomputed(plan));
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
    const std::int64_t tokens[] = {5, 6, 9};
    forced_choices({RoutingMode::kUniform, nullptr, nullptr}, 3, 1, tokens, 4, 2, choices);
    EXPECT_EQ(choices, (std::vector<std::int64_t>{2, 3, 0, 1, 2, 3}));  // (token * 2 + i) mod 4
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
