/// @file Starts of jobs that are played: what nodes keep, what fails, and waits that are not always as long.
#include <gtest/gtest.h>

#include <cmath>

#include "base/statistics/quantiles.hpp"
#include "campaign/agreement.hpp"
#include "campaign/drawn_length.hpp"
#include "campaign/machine_rates.hpp"
#include "campaign/player.hpp"
#include "settings.hpp"

namespace auspex::campaign {
namespace {

double spent_s(const Outcome& outcome, Spent spent) {
    return to_seconds(outcome.spent[static_cast<std::size_t>(spent)]);
}

/// 100 steps of 10 s, a checkpoint every 20 that stalls for 5 s; environment 300 s, restart 40 s, initialisation 20 s.
Setting started(std::vector<double> failures_s) {
    Setting setting = poisson_campaign(1, 40, 5, 20, 100, 10);
    setting.recovery.environment_s = 300;
    setting.recovery.initialise_s = 20;
    setting.starts_cold = true;
    setting.failures.front().spacing = Spacing::kTrace;
    setting.failures.front().times_s = std::move(failures_s);
    return setting;
}

TEST(PlayedStarts, nodes_keep_their_environment_until_they_are_given_back) {
    EXPECT_DOUBLE_EQ(to_seconds(play_sample(started({}), {}).elapsed), 360 + 1025);
    // Behind the first start: 128 s of steps are lost, and the restart needs no environment.
    const Outcome warm = play_sample(started({360 + 333}), {});
    EXPECT_DOUBLE_EQ(to_seconds(warm.elapsed), 360 + 1025 + 128 + 60);
    EXPECT_DOUBLE_EQ(spent_s(warm, Spent::kRestart), 40);
    EXPECT_DOUBLE_EQ(spent_s(warm, Spent::kStart), 360);
    // While it is copied: all of it again. Behind it: not again.
    EXPECT_DOUBLE_EQ(to_seconds(play_sample(started({100}), {}).elapsed), 100 + 360 + 1025);
    EXPECT_DOUBLE_EQ(to_seconds(play_sample(started({310}), {}).elapsed), 310 + 60 + 1025);
    // A job that goes on where another one stopped has it.
    Setting going_on = started({333});
    going_on.starts_cold = false;
    EXPECT_DOUBLE_EQ(to_seconds(play_sample(going_on, {}).elapsed), 1025 + 128 + 60);
}

TEST(PlayedStarts, new_nodes_of_the_next_block_lack_it) {
    Setting setting = started({});
    setting.blocks = {.walltime_s = 1'000, .queue_wait_s = 50};
    // 640 s of a block: 61 steps with the checkpoints of 20, 40, 60 and the last one; then 39.
    const Outcome outcome = play_sample(setting, {});
    EXPECT_EQ(outcome.blocks, 2);
    EXPECT_DOUBLE_EQ(spent_s(outcome, Spent::kStart), 2 * 360);
    EXPECT_DOUBLE_EQ(spent_s(outcome, Spent::kQueue), 50);
}

/// Attempts are geometric: f / (1 - f) of them fail in the mean, each for environment (once), restart, initialisation.
TEST(PlayedStarts, those_that_fail_cost_their_time_f_over_1_minus_f_times) {
    for (const double share : {0.1, 0.5, 0.8}) {
        Setting setting = started({});
        setting.recovery.environment_s = 0;
        setting.recovery.failed_start_share = share;
        double sum_s = 0;
        constexpr int kSamples = 40'000;
        for (std::uint64_t i = 0; i < kSamples; ++i) {
            const Outcome one = play_sample(setting, {1, i});
            sum_s += spent_s(one, Spent::kFailedStart);
            EXPECT_DOUBLE_EQ(spent_s(one, Spent::kStart), 60);
        }
        const double mean_s = 60 * share / (1 - share), deviation_s = 60 * std::sqrt(share) / (1 - share);
        EXPECT_NEAR(sum_s / kSamples, mean_s, 4 * deviation_s / std::sqrt(kSamples)) << share;
    }
}

TEST(PlayedStarts, the_closed_form_has_failed_starts_in_its_restart) {
    Setting setting = poisson_campaign(20'000, 300, 10, 60, 100'000, 10);
    setting.recovery.load_s = 50;
    setting.recovery.failed_start_share = 0.25;
    EXPECT_DOUBLE_EQ(poisson_run_of(setting).restart_s, 300 / 0.75 + 50);
    const Result result = play_campaign(setting, {400, 1});
    const std::optional<Agreement> both = compare_with_closed_forms(setting, result);
    EXPECT_NEAR(both->played_elapsed_s / both->expected_elapsed_s, 1, 0.002);
}

TEST(PlayedStarts, queue_waits_are_log_normal) {
    Setting setting = started({});
    setting.recovery.environment_s = 0;
    setting.blocks = {.walltime_s = 700, .queue_wait_s = 1'000, .queue_wait_sigma = std::log(5) / 1.2815515655446004};
    std::vector<double> waits_s;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        const Outcome one = play_sample(setting, {3, i});
        ASSERT_EQ(one.blocks, 2);
        waits_s.push_back(spent_s(one, Spent::kQueue));
    }
    EXPECT_NEAR(quantile(waits_s, 0.5), 1'000, 30);
    EXPECT_NEAR(quantile(waits_s, 0.9), 5'000, 200);
    EXPECT_NEAR(mean_length_s(1'000, 0.5), 1'000 * std::exp(0.125), 1e-9);
}

/// By Little's law the nodes under way are as many, in the mean, for all lengths of repair of one mean; so are spares.
TEST(PlayedStarts, spares_needed_follow_the_mean_repair) {
    Setting setting = poisson_campaign(1, 60, 1, 100, 1'000'000, 10);
    setting.nodes.count = 1'024;
    setting.nodes.replenish_s = 43'200;
    setting.nodes.replenish_sigma = std::sqrt(2 * std::log(2.0));
    setting.failures.front().mean_s = 86'400 / (1'024 * 0.0012);
    setting.failures.front().nodes = 1;
    EXPECT_DOUBLE_EQ(spare_window_s(setting), 86'400);
    EXPECT_EQ(play_campaign(setting, {200, 1}).spares_needed_p99, binomial_quantile(1'024, 0.0012, 0.99));
}

TEST(PlayedStarts, repairs_that_overtake_each_other_come_back_in_order) {
    Setting setting = poisson_campaign(500, 10, 1, 20, 20'000, 1);
    setting.failures.front().nodes = 1;
    setting.nodes = {.count = 8, .spares = 2, .replenish_s = 600, .replenish_sigma = 1.5};
    for (std::uint64_t i = 0; i < 50; ++i) {
        const Outcome one = play_sample(setting, {1, i});
        EXPECT_TRUE(one.is_finished);
        EXPECT_GT(spent_s(one, Spent::kNodeWait), 0);
    }
}

TEST(PlayedStarts, a_node_keeps_a_job_from_starting_by_itself) {
    models::Machine machine;
    machine.reliability.node_failed_start = 3.4e-4;
    EXPECT_NEAR(failed_start_share(machine, 1), 3.4e-4, 1e-7);
    EXPECT_NEAR(failed_start_share(machine, 512), 1 - std::exp(-0.17408), 1e-12);
    EXPECT_EQ(failed_start_share(machine, 100'000), kMostFailedStarts);
    machine.reliability.node_failed_start = 0;
    EXPECT_EQ(failed_start_share(machine, 10'000), 0);
}

}  // namespace
}  // namespace auspex::campaign
