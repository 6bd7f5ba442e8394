/// @file What is kept of the lines of mpirun and its ranks.
#include "launch/launch_outcome.hpp"

#include <gtest/gtest.h>

namespace auspex::launch {
namespace {

LaunchOutcome outcome_of(const std::vector<std::string>& lines) {
    LaunchOutcome outcome;
    for (const std::string& line : lines) {
        parse_output_line(outcome, line);
    }
    return outcome;
}

TEST(LaunchOutcome, a_rank_that_a_signal_ended_is_the_one_that_mpirun_names) {
    const std::string said =
        "mpirun noticed that process rank 12 with PID 4711 on node n0 exited on signal 9 (Killed).";
    const LaunchOutcome outcome = outcome_of({"---", said + "\r", "---"});
    EXPECT_EQ(outcome.killed_rank, 12);
    EXPECT_EQ(outcome.kill_signal, 9);
    EXPECT_EQ(outcome.other_lines, (std::vector<std::string>{"---", said, "---"}));
    EXPECT_EQ(outcome_of({"process rank 1 with PID 2 exited with code 3"}).killed_rank, std::nullopt);
}

TEST(LaunchOutcome, the_first_error_and_the_first_failure_are_kept) {
    const LaunchOutcome outcome = outcome_of({"auspex: failed: disk full", "auspex: error: plan.json: found 3",
                                              "auspex: error: another", "auspex: failed: lost"});
    EXPECT_EQ(outcome.error, "plan.json: found 3");
    EXPECT_EQ(outcome.failure, "disk full");
    EXPECT_TRUE(outcome.other_lines.empty());
}

TEST(LaunchOutcome, notes_of_ranks_go_on_to_whoever_looks) {
    testing::internal::CaptureStderr();
    const LaunchOutcome outcome = outcome_of({"auspex: checkpoint written"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "auspex: checkpoint written\n");
    EXPECT_TRUE(outcome.other_lines.empty());
}

TEST(LaunchOutcome, of_other_lines_the_last_20_are_kept) {
    std::vector<std::string> lines;
    for (int i = 0; i < 25; ++i) {
        lines.push_back(std::to_string(i));
    }
    EXPECT_EQ(outcome_of(lines).other_lines, std::vector<std::string>(lines.begin() + 5, lines.end()));
}

}  // namespace
}  // namespace auspex::launch
