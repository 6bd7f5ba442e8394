/// @file Hand-made runs that were killed, moved or begun anew: which of them have recovered.
#include "workflows/verify/recovery_judgement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "run_fixture.hpp"

namespace auspex::workflows {
namespace {

const std::vector<double> kAlone{6, 5.5, 5, 4.5, 4, 3.5, 3, 2.5};
constexpr int kSteps = 8;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The steps of kAlone from `first` on.
launch::TrainResult run_from(int first, int restarts = 0) {
    launch::TrainResult run = run_with_losses(std::span(kAlone).subspan(static_cast<std::size_t>(first)), first);
    run.restarts.resize(static_cast<std::size_t>(restarts));
    return run;
}

report::RecoveryCheck killed(const launch::TrainResult& run) { return judge_killed("kill", run, kAlone, kSteps); }
report::RecoveryCheck moved(const launch::TrainResult& run) { return judge_moved("moved", run, kAlone, {4, kSteps}); }
report::RecoveryCheck damaged(const launch::TrainResult& run) {
    return judge_damaged("damaged", run, kAlone, {2, kSteps});
}

TEST(RecoveryPlan, runs_of_6_to_32_steps_save_twice_before_the_middle_and_end_behind_it) {
    for (int wanted = 1; wanted <= 60; ++wanted) {
        const RecoveryPlan plan(wanted);
        EXPECT_EQ(plan.steps, std::min(std::max(wanted, 6), 32));
        EXPECT_EQ(plan.half % plan.every, 0) << wanted;
        EXPECT_GE(plan.half / plan.every, 2) << "one checkpoint may be damaged: " << wanted;
        EXPECT_LE(plan.half + plan.every, plan.steps) << "that many steps are begun from the weights: " << wanted;
    }
    EXPECT_EQ(RecoveryPlan(32).every, 4);  // 32 / 8
    EXPECT_EQ(RecoveryPlan(32).half, 16);  // 16 / 4 x 4
    EXPECT_EQ(RecoveryPlan(10).every, 2);  // at least
    EXPECT_EQ(RecoveryPlan(10).half, 4);   // 5 / 2 x 2
    EXPECT_EQ(RecoveryPlan(31).half, 15);  // 15 / 3 x 3
}

TEST(KilledRun, passes_with_a_restart_and_every_loss_equal_to_the_bit) {
    const report::RecoveryCheck check = killed(run_from(0, 1));
    EXPECT_TRUE(check.passed);
    EXPECT_EQ(check.what, "kill");
    EXPECT_EQ(check.result, "1 restart; losses equal those of the run left alone, bit for bit");
    EXPECT_TRUE(killed(run_from(0, 3)).passed);
}

TEST(KilledRun, fails_by_the_last_bit_of_any_loss) {
    for (std::size_t step = 0; step < kAlone.size(); ++step) {
        launch::TrainResult run = run_from(0, 1);
        run.steps[step].loss = std::nextafter(run.steps[step].loss, 10);
        const report::RecoveryCheck check = killed(run);
        EXPECT_FALSE(check.passed) << step;
        EXPECT_EQ(check.result, "1 restart; losses differ from those of the run left alone");
        run.steps[step].loss = kNan;
        EXPECT_FALSE(killed(run).passed) << step;
    }
}

TEST(KilledRun, fails_where_the_kill_was_not_noticed) {
    const report::RecoveryCheck check = killed(run_from(0, 0));
    EXPECT_FALSE(check.passed);
    EXPECT_EQ(check.result, "not noticed; losses equal those of the run left alone, bit for bit");
}

TEST(KilledRun, fails_where_a_step_is_lost_or_the_run_is) {
    launch::TrainResult run = run_from(0, 1);
    run.steps.pop_back();
    EXPECT_FALSE(killed(run).passed);
    EXPECT_EQ(killed(run).result, "found 7 steps from step 0; expected 8 from step 0");
    EXPECT_EQ(killed(run_from(2, 1)).result, "found 6 steps from step 2; expected 8 from step 0");
    // Nor is it whole because the other one has lost as many.
    EXPECT_FALSE(judge_killed("kill", run, std::span(kAlone).first(7), kSteps).passed);
    run = run_from(0, 1);
    run.error = "given up after 3 restarts";
    EXPECT_FALSE(killed(run).passed);
    EXPECT_EQ(killed(run).result, "failed: given up after 3 restarts");
}

TEST(MovedRun, passes_within_1e_5_of_the_steps_that_it_resumes) {
    launch::TrainResult run = run_from(4);
    EXPECT_TRUE(moved(run).passed);
    EXPECT_EQ(moved(run).result, "losses differ by 0 from the run left alone (allowed: 1.0e-05)");
    run.steps[3].loss *= 1 + 0.99e-5;
    EXPECT_TRUE(moved(run).passed);
    run.steps[3].loss = kAlone[7] * (1 + 1.01e-5);
    EXPECT_FALSE(moved(run).passed);
    run.steps[3].loss = kNan;
    EXPECT_FALSE(moved(run).passed);
    EXPECT_EQ(moved(run_from(3)).result, "found 5 steps from step 3; expected 4 from step 4");
    EXPECT_FALSE(judge_moved("moved", run_from(4), std::span(kAlone).first(2), {4, kSteps}).passed)
        << "there is nothing to compare with";
}

// Steps 4 and 5 of the run left alone: (4 + 3.5) / 2 = 3.75, of which 5 % is 0.1875.
TEST(BegunRun, passes_within_5_percent_of_the_mean_loss_of_the_steps_behind_its_weights) {
    const auto begun = [](const std::vector<double>& losses, int first_step = 0) {
        return judge_begun("begun", run_with_losses(losses, first_step), kAlone, 4, 2);
    };
    EXPECT_TRUE(begun({4, 3.5}).passed);
    EXPECT_TRUE(begun({3.93, 3.93}).passed);
    EXPECT_TRUE(begun({3.57, 3.57}).passed);
    EXPECT_FALSE(begun({3.94, 3.94}).passed);
    EXPECT_FALSE(begun({3.56, 3.56}).passed);
    EXPECT_FALSE(begun({6, 5.5}).passed) << "it began from nothing";
    EXPECT_FALSE(begun({4, kNan}).passed);
    EXPECT_FALSE(begun({4}).passed);
    EXPECT_FALSE(begun({4, 3.5}, 4).passed) << "steps are counted anew";
    EXPECT_EQ(begun({4, 3.5}).result,
              "mean loss of the first 2 steps 3.7500, of the run left alone at that point 3.7500, on other batches "
              "(allowed: 5 % apart); at the very beginning 6.0000");
}

TEST(DamagedRun, passes_from_the_older_checkpoint_with_every_loss_equal_to_the_bit) {
    EXPECT_TRUE(damaged(run_from(2)).passed);
    EXPECT_EQ(damaged(run_from(2)).result,
              "the one after step 2 was used; losses equal those of the run left alone, bit for bit");
    launch::TrainResult run = run_from(2);
    run.steps[5].loss = std::nextafter(run.steps[5].loss, 10);
    EXPECT_FALSE(damaged(run).passed);
    EXPECT_FALSE(damaged(run_from(4)).passed) << "the damaged one was used";
    EXPECT_EQ(damaged(run_from(4)).result, "found 4 steps from step 4; expected 6 from step 2");
    EXPECT_FALSE(damaged(run_from(0)).passed) << "none was used";
}

}  // namespace
}  // namespace auspex::workflows
