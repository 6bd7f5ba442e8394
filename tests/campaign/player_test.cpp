/// @file Single campaigns whose failures are given, worked out by hand.
#include "campaign/player.hpp"

#include <gtest/gtest.h>

#include "campaign/agreement.hpp"
#include "settings.hpp"

namespace auspex::campaign {
namespace {

/// 100 steps of 10 s, a checkpoint every 20 that stalls for 5 s; restart 60 s; failures at these times.
Setting traced(std::vector<double> times_s) {
    Setting setting = poisson_campaign(1, 60, 5, 20, 100, 10);
    setting.failures.front().spacing = Spacing::kTrace;
    setting.failures.front().mean_s = 0;
    setting.failures.front().times_s = std::move(times_s);
    return setting;
}

double played_s(const Setting& setting) {
    const Outcome outcome = play_sample(setting, {});
    EXPECT_TRUE(outcome.is_finished);
    return to_seconds(outcome.elapsed);
}

double spent_s(const Outcome& outcome, Spent spent) {
    return to_seconds(outcome.spent[static_cast<std::size_t>(spent)]);
}

TEST(Player, without_failures_there_are_steps_and_stalls) {
    EXPECT_DOUBLE_EQ(played_s(traced({})), 1000 + 5 * 5);
    Setting setting = traced({});
    setting.checkpoints.every_steps = 30;  // after 30, 60, 90 and 100
    EXPECT_DOUBLE_EQ(played_s(setting), 1000 + 4 * 5);
}

TEST(Player, a_failure_costs_what_was_done_since_the_last_checkpoint_and_a_restart) {
    // The checkpoint of step 20 is there at 205 s; at 333 s, 128 s of work are lost.
    const Outcome outcome = play_sample(traced({333}), {});
    EXPECT_DOUBLE_EQ(to_seconds(outcome.elapsed), 1025 + 128 + 60);
    EXPECT_EQ(outcome.lost_steps, 12);
    EXPECT_EQ(outcome.replayed_steps, 12);
    EXPECT_DOUBLE_EQ(spent_s(outcome, Spent::kReplay), 128);
    EXPECT_DOUBLE_EQ(spent_s(outcome, Spent::kWork), 1000);
    EXPECT_DOUBLE_EQ(to_seconds(outcome.lost_to.front()), 188);
    // In the stall: the steps before it are lost. In the restart: it begins anew.
    EXPECT_DOUBLE_EQ(played_s(traced({203})), 1025 + 203 + 60);
    EXPECT_DOUBLE_EQ(played_s(traced({203, 213})), 1025 + 203 + 10 + 60);
    // In the last stall.
    EXPECT_DOUBLE_EQ(played_s(traced({1024})), 1025 + 204 + 60);
}

TEST(Player, a_checkpoint_counts_when_its_write_is_done) {
    Setting setting = traced({333});
    setting.checkpoints.write_s = 100;  // there at 305 s; the run ends with the last write
    EXPECT_DOUBLE_EQ(played_s(setting), 1025 + 100 + 128 + 60);
    setting.checkpoints.write_s = 150;  // there at 355 s: back to the begin
    EXPECT_DOUBLE_EQ(played_s(setting), 1025 + 150 + 333 + 60);
    setting = traced({});
    setting.checkpoints.write_s = 300;  // the next one waits 100 s
    EXPECT_DOUBLE_EQ(played_s(setting), 1025 + 4 * 100 + 300);
}

TEST(Player, one_copy_is_lost_with_the_write_over_it) {
    Setting setting = traced({450});
    setting.checkpoints.write_s = 100;  // of step 40 from 410 to 510 s
    EXPECT_DOUBLE_EQ(played_s(setting), 1025 + 100 + 60 + (450 - 205));
    setting.checkpoints.copies = 1;
    EXPECT_DOUBLE_EQ(played_s(setting), 1025 + 100 + 60 + 450);
    setting.checkpoints.persistent_every = 1;  // the model alone is kept with each: of step 40, too
    EXPECT_DOUBLE_EQ(played_s(setting), 1025 + 100 + 60 + (450 - 410));
}

TEST(Player, wrong_numbers_throw_away_all_since_them) {
    Setting setting = traced({100});
    setting.failures.front().corruption_share = 1;
    setting.recovery.corruption_s = 1e-6;  // found at once
    EXPECT_NEAR(played_s(setting), 1025 + 100 + 60, 1e-3);
    setting = traced({430});
    setting.failures.front().corruption_share = 1;
    setting.recovery.corruption_s = 1e9;  // never
    EXPECT_DOUBLE_EQ(played_s(setting), 1025);
}

TEST(Player, hangs_last_until_the_watchdog_and_soft_failures_until_the_end_of_the_step) {
    Setting setting = traced({333});
    setting.failures.front().hang_share = 1;
    EXPECT_DOUBLE_EQ(played_s(setting), 1025 + 128 + 1800 + 60);
    setting.failures.front().hang_share = 0;
    setting.failures.front().soft_share = 1;
    EXPECT_DOUBLE_EQ(played_s(setting), 1025 + 128 + 2 + 60);
}

TEST(Player, blocks_end_with_a_checkpoint_and_begin_with_a_start) {
    Setting setting = traced({});
    setting.blocks = {.walltime_s = 500, .queue_wait_s = 1000};
    setting.starts_cold = true;
    // A block has 440 s: 43 steps with three checkpoints, after 20, 40 and 43; two of these, then the last 14.
    const Outcome outcome = play_sample(setting, {});
    EXPECT_EQ(outcome.blocks, 3);
    EXPECT_NEAR(to_seconds(outcome.elapsed), 2 * (60 + 420 + 15) + 2 * 1000 + 60 + 160 + 5, 1e-9);
    EXPECT_DOUBLE_EQ(spent_s(outcome, Spent::kQueue), 2000);
    EXPECT_EQ(outcome.lost_steps, 0);
    EXPECT_DOUBLE_EQ(to_seconds(outcome.held), to_seconds(outcome.elapsed) - 2000);
    setting.checkpoints.at_block_end = false;
    const Outcome killed = play_sample(setting, {});  // each block keeps 40 steps
    EXPECT_GT(killed.lost_steps, 0);
    EXPECT_EQ(killed.lost_steps, killed.replayed_steps);
}

TEST(Player, what_is_prepared_once_is_prepared_before_the_first_step) {
    Setting setting = traced({});
    setting.prepare_s = 100;
    EXPECT_DOUBLE_EQ(played_s(setting), 1025);  // a run that goes on has it
    setting.starts_cold = true;
    EXPECT_DOUBLE_EQ(played_s(setting), 60 + 100 + 1025);
    EXPECT_DOUBLE_EQ(spent_s(play_sample(setting, {}), Spent::kStart), 160);
    setting.failures.front().times_s = {130};  // while it goes on: begun anew
    EXPECT_DOUBLE_EQ(played_s(setting), 130 + 60 + 100 + 1025);
    setting.failures.front().times_s = {160 + 333};  // behind it: 128 s of steps, as ever, and a restart without it
    EXPECT_DOUBLE_EQ(played_s(setting), 60 + 100 + 1025 + 128 + 60);
}

TEST(Player, a_block_leaves_room_for_a_persistent_copy_of_its_last_checkpoint) {
    Setting setting = traced({});
    setting.blocks = {.walltime_s = 500, .queue_wait_s = 1000};
    setting.starts_cold = true;
    setting.checkpoints.every_steps = 100;
    setting.checkpoints.persistent_every = 2;  // of every other block
    setting.checkpoints.persistent_stall_s = 100;
    const Outcome outcome = play_sample(setting, {});
    EXPECT_TRUE(outcome.is_finished);
    EXPECT_EQ(outcome.lost_steps, 0);
    EXPECT_EQ(outcome.blocks, 3);  // 43, 33 and 24 steps
    EXPECT_DOUBLE_EQ(spent_s(outcome, Spent::kCheckpoint), 3 * 5 + 100);
}

TEST(Player, maintenance_stops_the_job_and_nothing_is_lost) {
    Setting setting = traced({});
    setting.blocks = {.maintenance_every_s = 1e6, .maintenance_s = 50, .first_maintenance_s = 302};
    // Until 302 s: 29 steps and the checkpoint of step 20, then one more checkpoint, at 295 + 5 = 300 s.
    const Outcome outcome = play_sample(setting, {});
    EXPECT_EQ(outcome.lost_steps, 0);
    EXPECT_DOUBLE_EQ(spent_s(outcome, Spent::kMaintenance), 52);
    EXPECT_DOUBLE_EQ(spent_s(outcome, Spent::kStart), 60);
}

TEST(Player, failed_nodes_are_swapped_until_spares_run_out) {
    Setting setting = traced({100, 400, 700});
    setting.failures.front().nodes = 1;
    setting.nodes = {.count = 8, .spares = 1, .replenish_s = 10'000};
    setting.recovery.swap_s = 7;
    const Outcome waited = play_sample(setting, {});
    // The second failure, at 400 s, waits for the node of the first, which is back at 10,100 s.
    EXPECT_NEAR(spent_s(waited, Spent::kNodeWait), 10'100 - 400 + 10'400 - (10'100 + 300), 400);
    EXPECT_DOUBLE_EQ(spent_s(waited, Spent::kSwap), 21);
    setting.blocks.queue_wait_s = 3600;
    const Outcome queued = play_sample(setting, {});
    EXPECT_EQ(queued.requeues, 1);  // a new block has a new spare node
    EXPECT_DOUBLE_EQ(spent_s(queued, Spent::kQueue), 3600);
    EXPECT_DOUBLE_EQ(spent_s(queued, Spent::kSwap), 14);
}

/// Stalls after 20 steps and again after each 20 of those done again: six, of which the write of the first is cut off.
TEST(Player, a_checkpoint_whose_write_is_cut_off_is_not_counted) {
    Setting setting = traced({333});
    setting.checkpoints.write_s = 150;  // would be there at 355 s
    EXPECT_EQ(play_sample(setting, {}).checkpoints, 5);
    setting.checkpoints.write_s = 100;  // is there at 305 s
    EXPECT_EQ(play_sample(setting, {}).checkpoints, 5);
}

TEST(Player, wrong_numbers_that_nobody_finds_are_said_at_the_end) {
    Setting setting = traced({333});
    EXPECT_FALSE(play_sample(setting, {}).ends_corrupt);
    setting.failures.front().corruption_share = 1;
    setting.recovery.corruption_s = 1e9;  // never found
    EXPECT_TRUE(play_sample(setting, {}).ends_corrupt);
    EXPECT_EQ(play_campaign(setting, {4, 1}).ends_corrupt, 1);
    setting.recovery.corruption_s = 1e-6;  // at once
    EXPECT_FALSE(play_sample(setting, {}).ends_corrupt);
}

TEST(Player, slow_nodes_are_booked_apart) {
    Setting setting = traced({});
    setting.slow = {.mean_s = 200, .factor = 1.5, .lasts_s = 300};
    const Outcome outcome = play_sample(setting, {});
    EXPECT_NEAR(spent_s(outcome, Spent::kWork), 1000, 1e-6);
    EXPECT_GT(spent_s(outcome, Spent::kSlowNodes), 0);
}

TEST(Player, a_run_that_gets_nowhere_is_given_up) {
    Setting setting = poisson_campaign(100, 60, 5, 100, 100'000, 10);
    const Result result = play_campaign(setting, {10, 1});
    EXPECT_EQ(result.given_up, 10);
    EXPECT_TRUE(std::isinf(result.elapsed_s.p50));
    // The closed form differs, and says why.
    const Agreement forms = compare_with_closed_forms(setting, result).value();
    EXPECT_FALSE(forms.agrees);
    ASSERT_EQ(forms.broken.size(), 1U);
    EXPECT_EQ(forms.broken.front(), "10 of 10 campaigns were given up, and have no length");
}

TEST(Player, lemons_fail_more_often_until_they_are_out) {
    Setting setting = poisson_campaign(10'000, 60, 5, 100, 400'000, 10);
    setting.failures.front().nodes = 1;
    setting.nodes.count = 1000;
    const double plain = play_campaign(setting, {50, 1}).interruptions.mean;
    setting.nodes.lemon_share = 0.05;
    setting.nodes.lemon_factor = 20;
    const double with_lemons = play_campaign(setting, {50, 1}).interruptions.mean;
    EXPECT_GT(with_lemons, plain + 40);  // 50 of them, most of which fail soon
    EXPECT_LT(with_lemons, (1 + 0.05 * 19) * plain);
}

}  // namespace
}  // namespace auspex::campaign
