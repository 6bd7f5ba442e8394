/// @file Which traced steps stand for a layout, operation times of timelines, and where the error is.
#include "compare/evaluate/compared_operations.hpp"

#include <gtest/gtest.h>

namespace auspex::evaluate {
namespace {

/// A run of steps of a second; its traced step has one operation, which takes as long as the step.
ComparedRun traced(double traced_s, bool at_full_speed = true, bool counts = true) {
    ComparedRun run;
    run.step_s = 1;
    run.is_valid = counts;
    run.traced_s = traced_s;
    run.is_traced_at_full_speed = at_full_speed;
    run.operations = {{"work", traced_s, 0}};
    return run;
}

ComparedCase of_runs(const std::vector<ComparedRun>& runs) {
    ComparedCase one;
    one.runs = runs;
    take_operations(one);
    return one;
}

TEST(ComparedOperations, a_traced_step_is_typical_at_full_speed_and_near_the_median_of_its_run) {
    // |traced_s / step_s - 1| <= 0.1.
    EXPECT_TRUE(trace_is_typical(traced(1.09)));
    EXPECT_TRUE(trace_is_typical(traced(0.91)));
    EXPECT_FALSE(trace_is_typical(traced(1.11)));
    EXPECT_FALSE(trace_is_typical(traced(0.89)));
    EXPECT_FALSE(trace_is_typical(traced(1, false))) << "on slowed cores";
}

TEST(ComparedOperations, operations_are_of_typical_steps_only) {
    // Steps of 3 and of 2 s are no steps of these runs; the median of 1.02 and 1.06 is 1.04. Over all four it
    // were 1.53.
    const ComparedCase one = of_runs({traced(3), traced(1.02), traced(2, false), traced(1.06)});
    EXPECT_TRUE(one.operations_are_typical);
    ASSERT_EQ(one.operations.size(), 1U);
    EXPECT_NEAR(one.operations[0].measured_s, 1.04, 1e-12);
}

TEST(ComparedOperations, without_a_typical_step_the_nearest_is_taken_and_marked) {
    // Nothing is scaled: 1.3 s is what the nearest step took.
    const ComparedCase one = of_runs({traced(1.5), traced(1.3), traced(3)});
    EXPECT_FALSE(one.operations_are_typical);
    ASSERT_EQ(one.operations.size(), 1U);
    EXPECT_NEAR(one.operations[0].measured_s, 1.3, 1e-12);
    EXPECT_FALSE(of_runs({ComparedRun{}}).operations_are_typical) << "no trace at all";
}

TEST(ComparedOperations, runs_that_count_come_first) {
    // The second run does not count: however near its step is, those of runs that count come before it.
    const ComparedCase one = of_runs({traced(1.3), traced(1, true, false), traced(1.05), traced(1.02)});
    EXPECT_EQ(runs_by_trace(one), (std::vector<std::size_t>{3, 2, 0, 1}));
    EXPECT_NEAR(one.operations[0].measured_s, 1.035, 1e-12) << "of 1.02 and 1.05";
    const ComparedCase none_near = of_runs({traced(1.3), traced(1, true, false)});
    EXPECT_FALSE(none_near.operations_are_typical);
    EXPECT_NEAR(none_near.operations[0].measured_s, 1.3, 1e-12);
    // Where none counts all do.
    const ComparedCase all = of_runs({traced(1.3, true, false), traced(1.04, true, false)});
    EXPECT_TRUE(all.operations_are_typical);
    EXPECT_NEAR(all.operations[0].measured_s, 1.04, 1e-12);
}

TEST(ComparedOperations, the_largest_errors_are_those_of_most_seconds) {
    // Predicted - measured: -3, +1, +2, 0. Relative to what was measured the second would be the largest.
    const std::vector<OperationPair> errors = largest_errors({{"a", 10, 7}, {"b", 1, 2}, {"c", 5, 7}, {"d", 1, 1}}, 2);
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0].name, "a");
    EXPECT_EQ(errors[1].name, "c");
    EXPECT_EQ(largest_errors({{"a", 1, 1}}, 3).size(), 1U);
}

TEST(ComparedOperations, operations_are_summed_over_cases) {
    ComparedCase one, other;
    one.operations = {{"a", 1, 2}, {"b", 5, 4}};
    other.operations = {{"a", 6, 7}};
    const std::vector<OperationPair> sums = summed_operations({one, other});
    ASSERT_EQ(sums.size(), 2U);
    EXPECT_EQ(sums[0].name, "a");
    EXPECT_NEAR(sums[0].measured_s, 7, 1e-12);
    EXPECT_NEAR(sums[0].predicted_s, 9, 1e-12);
}

TEST(ComparedOperations, operation_times_are_means_over_ranks) {
    schedule::Timeline timeline;
    timeline.tracks = {{"rank 0", "compute"}, {"rank 0", "dp"}, {"rank 1", "compute"}, {"rank 1", "dp"}};
    timeline.names = {"never", "work", "message"};
    timeline.spans = {
        {0, 1, 0, 4'000'000'000'000}, {2, 1, 0, 2'000'000'000'000}, {1, 2, 4'000'000'000'000, 5'000'000'000'000}};
    const std::vector<OperationPair> operations = operation_times(timeline);
    ASSERT_EQ(operations.size(), 2U);
    EXPECT_EQ(operations[0].name, "work");
    EXPECT_NEAR(operations[0].measured_s, 3, 1e-12);  // (4 + 2) / 2
    EXPECT_NEAR(operations[1].measured_s, 0.5, 1e-12);
    const std::vector<OperationPair> pairs = pair_operations(operations, {{"work", 6, 0}, {"other", 1, 0}});
    ASSERT_EQ(pairs.size(), 3U);
    EXPECT_NEAR(pairs[0].predicted_s, 6, 1e-12);
    EXPECT_EQ(pairs[2].name, "other");
    EXPECT_NEAR(pairs[2].predicted_s, 1, 1e-12);
    EXPECT_EQ(pairs[2].measured_s, 0);
}

}  // namespace
}  // namespace auspex::evaluate
