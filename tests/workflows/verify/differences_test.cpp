/// @file Runs beside others and beside predictions: what differs is found, and said first of all.
#include "workflows/verify/differences.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "../../exec/exec_fixture.hpp"
#include "../../exec/file_fixture.hpp"
#include "run_fixture.hpp"

namespace auspex::workflows {
namespace {

using Losses = std::vector<double>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(LargestDifference, is_relative_to_the_second_and_the_largest_of_all) {
    EXPECT_EQ(largest_difference(Losses{1, 2, 4}, Losses{1, 2, 4}), 0);
    EXPECT_DOUBLE_EQ(largest_difference(Losses{4, 5, 8}, Losses{4, 4, 8}), 1.0 / 4);
    EXPECT_DOUBLE_EQ(largest_difference(Losses{4, 3, 8}, Losses{4, 4, 8}), 1.0 / 4);
    EXPECT_DOUBLE_EQ(largest_difference(Losses{-4, 1}, Losses{-5, 1}), 1.0 / 5);
    EXPECT_DOUBLE_EQ(largest_difference(Losses{5, 9}, Losses{4, 8}), 1.0 / 4) << "1/4 of the first, 1/8 of the last";
}

TEST(LargestDifference, is_infinite_where_a_step_is_missing_or_a_number_is_none) {
    EXPECT_EQ(largest_difference(Losses{1, 2}, Losses{1, 2, 3}), kInfinite);
    EXPECT_EQ(largest_difference(Losses{1, 2, 3}, Losses{1, 2}), kInfinite);
    EXPECT_EQ(largest_difference(Losses{1, kNan, 3}, Losses{1, 2, 3}), kInfinite);
    EXPECT_EQ(largest_difference(Losses{1, 2, 3}, Losses{1, kNan, 3}), kInfinite);
    EXPECT_EQ(largest_difference(Losses{kNan}, Losses{kNan}), kInfinite);
    EXPECT_EQ(largest_difference(Losses{kInfinite}, Losses{kInfinite}), kInfinite);
    EXPECT_EQ(largest_difference(Losses{1, kInfinite}, Losses{1, 2}), kInfinite);
    EXPECT_EQ(largest_difference(Losses{1, 2}, Losses{1, kInfinite}), kInfinite);
}

// Two steps from step 5 on, two layers, three tokens with two experts each.
TEST(FirstDifferingChoice, is_sought_by_step_then_layer_then_token) {
    models::RoutingRecord record;
    record.first_step = 5, record.steps = 2, record.layers = 2, record.tokens = 3;
    record.top_k = 2, record.num_experts = 8;
    for (std::uint16_t i = 0; i < 12; ++i) {
        record.choices.insert(record.choices.end(), {static_cast<std::uint16_t>(i % 4), 5});
    }
    EXPECT_FALSE(first_differing_choice(record, record));
    for (int step : {6, 5}) {  // the later one first, so that the earlier one has to win
        models::RoutingRecord other = record;
        for (const int later : {6, step}) {
            other.choices[static_cast<std::size_t>(((later - 5) * 2 + 1) * 3 + 2) * 2] = 7;
        }
        const auto first = first_differing_choice(other, record);
        ASSERT_TRUE(first);
        EXPECT_EQ(first->step, step);
        EXPECT_EQ(first->layer, 1);
        EXPECT_EQ(first->token, 2);
    }
    models::RoutingRecord swapped = record;
    std::swap(swapped.choices[0], swapped.choices[1]);
    EXPECT_FALSE(first_differing_choice(swapped, record)) << "a token's experts have no order";
}

TEST(FaultOfSteps, a_run_begins_where_it_should_and_lacks_no_step) {
    const launch::TrainResult run = run_with_losses(std::vector<double>{1, 2, 3}, 4);
    EXPECT_EQ(fault_of_steps(run, {4, 7}), "");
    EXPECT_EQ(fault_of_steps(run, {4, 8}), "found 3 steps from step 4; expected 4 from step 4");
    EXPECT_EQ(fault_of_steps(run, {4, 6}), "found 3 steps from step 4; expected 2 from step 4");
    EXPECT_EQ(fault_of_steps(run, {5, 8}), "found 3 steps from step 4; expected 3 from step 5");
}

TEST(RequireWhole, what_others_are_compared_with_has_all_of_its_steps) {
    launch::TrainResult run = run_with_losses(std::vector<double>{1, 2, 3});
    const auto refusal = [&](int steps) {
        return file_fixture::message_of<std::runtime_error>([&] { require_whole(run, steps, "one rank"); });
    };
    EXPECT_EQ(refusal(3), "no such exception");
    EXPECT_EQ(refusal(4), "one rank: found 3 steps from step 0; expected 4 from step 0");
    run.error = "rank 1 died";
    EXPECT_EQ(refusal(3), "one rank: rank 1 died");
}

/// Four ranks, and what they have counted in a step.
struct CountedRun {
    exec::RunInputs inputs;
    launch::TrainResult run;

    CountedRun() {
        models::Plan plan = exec_fixture::single_plan();
        plan.dp = plan.ep = 2;
        plan.optimizer = models::OptimizerSharding::kEpAware;
        inputs = exec_fixture::run_inputs(exec_fixture::mixture_model(), plan);
        const exec_fixture::StepResult step = exec_fixture::one_step<exec::Fp32>(inputs);
        run.counts.resize(step.counts.front().size());
        for (std::size_t rank = 0; rank < step.counts.size(); ++rank) {
            exec::RankReport& report = run.ranks.emplace_back();
            report.rank = static_cast<int>(rank);
            report.peaks = step.peaks[rank];
            report.peak_bytes = std::accumulate(step.at_peak[rank].begin(), step.at_peak[rank].end(), std::size_t{0});
            for (std::size_t kind = 0; kind < run.counts.size(); ++kind) {
                run.counts[kind] += step.counts[rank][kind];
            }
        }
    }
};

TEST(MemoryDifference, names_the_first_rank_and_label_that_are_not_equal_to_the_byte) {
    CountedRun c;
    EXPECT_EQ(memory_difference(c.inputs, c.run, nullptr), "");
    const schedule::MemoryLabel label = schedule::MemoryLabel::kMoments;
    c.run.ranks[2].peaks[static_cast<std::size_t>(label)] += 1;
    const std::string difference = memory_difference(c.inputs, c.run, nullptr);
    EXPECT_EQ(difference.rfind("rank 2, " + std::string(to_string(label)) + ": ", 0), 0U) << difference;
    c.run.ranks[2].peaks[static_cast<std::size_t>(label)] -= 1;
    c.run.ranks[3].peak_bytes -= 4;
    EXPECT_EQ(memory_difference(c.inputs, c.run, nullptr).rfind("rank 3, all labels: ", 0), 0U);
    c.run.ranks.pop_back();
    EXPECT_EQ(memory_difference(c.inputs, c.run, nullptr), "ranks: 4 of them predicted, 3 measured");
}

TEST(CountsDifference, names_the_first_kind_of_operation_that_is_done_or_sent_otherwise) {
    CountedRun c;
    EXPECT_EQ(counts_difference(c.inputs, c.run), "");
    exec::OperationCount& attention = c.run.counts[static_cast<std::size_t>(schedule::OpKind::kAttention)];
    // Two layers and two micro-batches on each of four ranks, forward and backward.
    EXPECT_EQ(attention.operations, 32U);
    attention.operations -= 1;
    EXPECT_EQ(counts_difference(c.inputs, c.run), "attention: 32 operations predicted, 31 measured");
    attention.operations += 1;
    attention.bytes += 1;
    EXPECT_EQ(counts_difference(c.inputs, c.run), "attention: 0 bytes predicted, 1 measured");
}

TEST(OptimizerBytes, are_those_of_the_rank_that_has_most) {
    CountedRun c;
    const std::uint64_t most = measured_optimizer_bytes(c.run);
    EXPECT_EQ(most, predicted_optimizer_bytes(c.inputs));
    c.run.ranks[1].peaks[static_cast<std::size_t>(schedule::MemoryLabel::kMoments)] = most + 8;
    c.run.ranks[1].peaks[static_cast<std::size_t>(schedule::MemoryLabel::kMasterWeights)] = 4;
    EXPECT_EQ(measured_optimizer_bytes(c.run), most + 12);
}

}  // namespace
}  // namespace auspex::workflows
