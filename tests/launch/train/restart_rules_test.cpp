/// @file A supervised run, failure by failure: what it is called, when it is launched again, on which slots.
#include "launch/train/restart_rules.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include "../../exec/file_fixture.hpp"

namespace auspex::launch {
namespace {

using file_fixture::message_of;
using file_fixture::TestFolder;
using Numbers = std::vector<int>;

RankFailure killed(int rank, int step, int signal = SIGKILL) {
    return {
        "rank " + std::to_string(rank) + " died (signal " + std::to_string(signal) + ")", {rank}, step, false, signal};
}

RankFailure not_finite(int rank, int step) {
    return {"rank " + std::to_string(rank) + " had a loss or gradients that are not finite", {rank}, step, true, 0};
}

/// Ranks 0 and 1 on slots 0 and 1, and so many slots more.
Slots two_ranks_and(int buffer) { return {"", 2, buffer}; }

std::string refusal_of(RestartRules& rules, const RankFailure& failure, const Slots& slots,
                       const Numbers& failed = {}) {
    return message_of<std::runtime_error>([&] { static_cast<void>(rules.slots_to_leave_out(failure, failed, slots)); });
}

TEST(RestartRules, a_run_is_given_up_after_so_many_restarts_and_not_before) {
    for (const int most : {0, 1, 3, 20}) {
        RestartRules rules(most, 2);
        for (int failure = 0; failure < most; ++failure) {
            EXPECT_EQ(rules.slots_to_leave_out(killed(1, 4), {}, two_ranks_and(0)), Numbers{}) << failure;
        }
        EXPECT_EQ(refusal_of(rules, killed(1, 4), two_ranks_and(0)),
                  "rank 1 died (signal 9) (in step 4); given up after " + std::to_string(most) +
                      " restarts (--max-restarts)");
    }
}

TEST(RestartRules, steps_between_failures_give_no_restarts_back) {
    RestartRules rules(2, 2);
    EXPECT_EQ(rules.slots_to_leave_out(killed(1, 10), {}, two_ranks_and(0)), Numbers{});
    EXPECT_EQ(rules.slots_to_leave_out(killed(1, 10'000), {}, two_ranks_and(0)), Numbers{});
    EXPECT_NE(refusal_of(rules, killed(1, 20'000), two_ranks_and(0)).find("given up after 2"), std::string::npos);
}

TEST(RestartRules, the_failing_slot_is_left_out_until_too_few_are_left) {
    Slots slots = two_ranks_and(1);
    RestartRules rules(3, 2);
    EXPECT_EQ(rules.slots_to_leave_out(killed(1, 4), {1}, slots), Numbers{1});
    slots.leave_out(1);
    EXPECT_EQ(slots.used(), (Numbers{0, 2}));
    EXPECT_EQ(refusal_of(rules, killed(0, 5), slots, {0}),
              "rank 0 died (signal 9) on slot 0 in step 5; fewer healthy slots are left than the 2 that the run needs "
              "(--buffer-ranks)");
}

// 4 ranks: 5 slots less 2 are 3, too few, and nobody knows which of the two was it; 6 less 2 are enough.
TEST(RestartRules, of_several_slots_all_are_left_out_or_none) {
    RestartRules rules(3, 4);
    const RankFailure both{"ranks 1,2 had a loss or gradients that are not finite", {1, 2}, 4, true, 0};
    EXPECT_EQ(rules.slots_to_leave_out(both, {1, 2}, Slots("", 4, 1)), Numbers{});
    RestartRules others(3, 4);
    EXPECT_EQ(others.slots_to_leave_out(both, {1, 2}, Slots("", 4, 2)), (Numbers{1, 2}));
}

TEST(RestartRules, a_slot_that_is_not_known_cannot_be_left_out) {
    RestartRules rules(3, 2);
    EXPECT_EQ(rules.slots_to_leave_out(killed(1, 4), {-1}, two_ranks_and(0)), Numbers{});
    EXPECT_EQ(rules.slots_to_leave_out(killed(1, 5), {-1, 1}, two_ranks_and(1)), Numbers{1});
}

TEST(RestartRules, a_step_that_fails_again_by_the_programs_doing_is_not_tried_a_third_time) {
    for (const int signal : {SIGILL, SIGABRT, SIGFPE, SIGBUS, SIGSEGV}) {
        RestartRules rules(3, 2);
        EXPECT_EQ(rules.slots_to_leave_out(killed(1, 4, signal), {1}, two_ranks_and(2)), Numbers{1});
        EXPECT_EQ(refusal_of(rules, killed(0, 4, signal), two_ranks_and(2), {0}),
                  "rank 0 died (signal " + std::to_string(signal) +
                      ") on slot 0 in step 4; step 4 fails on whatever slots: the program fails there, not the slots");
    }
    RestartRules rules(3, 2);
    EXPECT_EQ(rules.slots_to_leave_out(not_finite(0, 4), {}, two_ranks_and(0)), Numbers{});
    EXPECT_NE(refusal_of(rules, not_finite(1, 4), two_ranks_and(0))
                  .find("; step 4 fails on whatever slots: the run "
                        "diverges there; lower the learning rate"),
              std::string::npos);
}

TEST(RestartRules, the_programs_failure_is_told_though_no_restart_is_left) {
    RestartRules rules(1, 2);
    EXPECT_EQ(rules.slots_to_leave_out(killed(1, -1, SIGSEGV), {}, two_ranks_and(0)), Numbers{});
    EXPECT_EQ(refusal_of(rules, killed(1, -1, SIGSEGV), two_ranks_and(0)),
              "rank 1 died (signal 11) (before the first step); the start fails on whatever slots: the program fails "
              "there, not the slots");
}

TEST(RestartRules, other_failures_of_a_step_or_the_same_of_other_steps_are_met_with_a_restart) {
    RestartRules rules(20, 2);
    for (const RankFailure& failure : {killed(1, 4, SIGSEGV), killed(1, 5, SIGSEGV), killed(1, 4, SIGABRT),
                                       not_finite(1, 4), not_finite(1, 5), killed(1, 4), killed(1, 4), killed(1, 4)}) {
        EXPECT_EQ(refusal_of(rules, failure, two_ranks_and(0)), "no such exception") << failure.reason;
    }
}

TEST(RestartRules, a_relaunch_goes_on_from_the_checkpoint_without_the_injected_fault) {
    const std::vector<std::string> first{"--steps",         "9",        "--inject", "kill:rank=1,step=3",
                                         "--inject=hang:x", "--resume", "--data",   "d"};
    const std::vector<std::string> again{"--steps", "9", "--data", "d", "--resume"};
    EXPECT_EQ(arguments_of_relaunch(first), again);
    EXPECT_EQ(arguments_of_relaunch(again), again);
}

TEST(RestartRules, what_a_relaunch_would_not_change_is_final) {
    EXPECT_FALSE(is_final({}));
    EXPECT_TRUE(is_final({.interrupted_by = SIGTERM}));
    EXPECT_TRUE(is_final({.error = "plan.json: found 3"}));
    EXPECT_FALSE(is_final({.hung = true, .killed_rank = 1, .failure = "a checkpoint could not be written"}));
}

TEST(RestartRules, what_fails_behind_the_last_step_takes_nothing_away) {
    const TestFolder scratch;
    const RunFolder folder(scratch.path());
    EXPECT_TRUE(is_success({}, folder));
    EXPECT_FALSE(is_success({.exit_code = 1}, folder));
    EXPECT_FALSE(is_success({.hung = true}, folder)) << "it ended well only because it was told to";
    folder.mark_done();
    EXPECT_TRUE(is_success({.exit_code = 1}, folder));
    EXPECT_TRUE(is_success({.hung = true}, folder));
}

TEST(RankFailure, is_told_by_the_hang_then_the_numbers_then_the_signal_then_words) {
    const TestFolder scratch;
    const RunFolder folder(scratch.path());
    folder.write_status(0, {100, 6, "n0"});
    folder.write_status(2, {102, 5, "n0"});
    LaunchOutcome outcome{.exit_code = 137, .killed_rank = 2, .kill_signal = 9, .failure = "rank 2 was lost"};
    folder.write_soft_failure(7, {1, 3});
    const RankFailure soft = failure_of(outcome, folder);
    EXPECT_EQ(soft.reason, "ranks 1,3 had a loss or gradients that are not finite");
    EXPECT_EQ(soft.ranks, (Numbers{1, 3}));
    EXPECT_EQ(soft.step, 7) << "the step that was written with it";
    EXPECT_TRUE(soft.is_not_finite);
    EXPECT_EQ(soft.signal, 0);
    // It is forgotten with the launch that it ended.
    const RankFailure signal = failure_of(outcome, folder);
    EXPECT_EQ(signal.reason, "rank 2 died (signal 9)");
    EXPECT_EQ(signal.ranks, Numbers{2});
    EXPECT_EQ(signal.step, 5) << "that rank 2 had begun";
    EXPECT_EQ(signal.signal, 9);
    outcome.hung = true, outcome.hung_rank = 0;
    EXPECT_EQ(failure_of(outcome, folder).reason, "rank 0 hung");
    EXPECT_EQ(failure_of(outcome, folder).step, 6);
    outcome.hung_rank.reset();
    EXPECT_EQ(failure_of(outcome, folder).reason, "a rank hung");
    EXPECT_EQ(failure_of(outcome, folder).ranks, Numbers{});
    outcome = {.exit_code = 1, .failure = "disk full"};
    EXPECT_EQ(failure_of(outcome, folder).reason, "disk full");
    outcome.failure.clear();
    EXPECT_EQ(failure_of(outcome, folder).reason, "mpirun ended with exit code 1");
    folder.forget_ranks(3);
    EXPECT_EQ(failure_of(outcome, folder).step, -1);
}

TEST(RankFailure, its_description_says_what_where_and_when) {
    EXPECT_EQ(description_of(killed(1, 4), {3}), "rank 1 died (signal 9) on slot 3 in step 4");
    EXPECT_EQ(description_of(killed(1, 4), {3, 5}), "rank 1 died (signal 9) on slots 3,5 in step 4");
    EXPECT_EQ(description_of(killed(1, -1), {}), "rank 1 died (signal 9) (before the first step)");
    EXPECT_EQ(description_of(killed(1, 0), {-1}),
              "rank 1 died (signal 9) on a host that no line of --hostfile names in step 0");
}

}  // namespace
}  // namespace auspex::launch
