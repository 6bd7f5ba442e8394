/// @file The closed form of a whole run against the mean of what is played.
#include "campaign/finish/expected_finish.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "campaign/closed_forms.hpp"
#include "campaign/finish/machine_setting.hpp"
#include "settings.hpp"

namespace auspex::campaign {
namespace {

/// A job of 1,024 nodes for about two weeks, in the sizes of Aurora.
Setting long_run() {
    Setting setting = poisson_campaign(4 * 3600, 120, 20, 150, 120'000, 10);
    setting.starts_cold = true;
    setting.nodes.count = 1024;
    setting.recovery.initialise_s = 200;
    setting.recovery.environment_s = 150;
    setting.recovery.load_s = 60;
    setting.recovery.swap_s = 90;
    setting.checkpoints.write_s = 100;
    setting.failures.front().nodes = 1;
    setting.failures.front().detection_s = 60;
    return setting;
}

/// Means of elapsed time, node-hours and interruptions within `error`, or four standard errors where that is more.
void expect_played(const std::string& what, const Setting& setting, double error, int samples = 400) {
    const Result played = play_campaign(setting, {samples, 7});
    const ExpectedFinish found = expected_finish(setting);
    ASSERT_EQ(played.given_up, 0) << what;
    const double noise = 4 * played.elapsed_error_s / played.elapsed_s.mean;
    const double allowed = std::max(error, noise);
    EXPECT_NEAR(found.elapsed_s / played.elapsed_s.mean, 1, allowed) << what;
    EXPECT_NEAR(found.node_hours / played.node_hours.mean, 1, allowed) << what;
    EXPECT_NEAR(found.goodput / played.goodput, 1, allowed) << what;
    EXPECT_NEAR(found.interruptions, played.interruptions.mean,
                std::max(0.03 * played.interruptions.mean, 4 * std::sqrt(played.interruptions.mean / samples)))
        << what;
    EXPECT_NEAR(found.blocks, played.blocks, std::max(0.06 * played.blocks, 0.1)) << what;
}

// Without failures everything is counted: start, index, steps, stalls and the write behind the last checkpoint.
TEST(ExpectedFinish, without_failures_is_exact) {
    Setting setting = long_run();
    setting.failures.clear();
    setting.prepare_s = 500;
    setting.steps = 1000;
    setting.checkpoints.every_steps = 300;
    const ExpectedFinish found = expected_finish(setting);
    EXPECT_DOUBLE_EQ(found.elapsed_s, 150 + 120 + 200 + 500 + 60 + 1000 * 10 + 4 * 20 + 100);
    EXPECT_DOUBLE_EQ(found.elapsed_s, play_campaign(setting, {1, 1}).elapsed_s.mean);
    EXPECT_DOUBLE_EQ(found.node_hours, found.elapsed_s / 3600 * 1024);
    EXPECT_EQ(found.interruptions, 0);
    EXPECT_EQ(closed_form_steps(setting), 1000);
    // A write that is longer than the steps between: the next checkpoint waits for it.
    setting.checkpoints.every_steps = 5;
    EXPECT_DOUBLE_EQ(expected_finish(setting).elapsed_s, play_campaign(setting, {1, 1}).elapsed_s.mean);
}

// M e^(R/M) (e^((t + d)/M) - 1) of each segment, where recoveries are all alike and nothing is written beside steps.
TEST(ExpectedFinish, of_plain_runs_is_dalys) {
    for (const double mtbf_s : {2'000.0, 20'000.0}) {
        for (const double restart_s : {0.0, 300.0}) {
            const Setting setting = poisson_campaign(mtbf_s, restart_s, 20, 150, 10'100);
            // The first and the last segment are of other lengths.
            const double daly_s = run_time_s({mtbf_s, 20, restart_s}, 10'100, 150, 1);
            EXPECT_NEAR(expected_finish(setting).elapsed_s, daly_s, 1e-9 * daly_s);
        }
    }
}

TEST(ExpectedFinish, is_the_mean_of_what_is_played_over_a_grid) {
    for (const double mtbf_s : {2 * 3600.0, 8 * 3600.0, 48 * 3600.0}) {
        for (const double write_s : {0.0, 100.0, 1'200.0}) {
            for (const std::int64_t every : {60, 300}) {
                Setting setting = long_run();
                setting.failures.front().mean_s = mtbf_s;
                setting.checkpoints.write_s = write_s;
                setting.checkpoints.every_steps = every;
                expect_played("M " + std::to_string(mtbf_s) + " write " + std::to_string(write_s) + " every " +
                                  std::to_string(every),
                              setting, 0.01);
            }
        }
    }
}

struct Case {
    const char* what;
    std::function<void(Setting&)> change;
    double error = 0.01;
};

TEST(ExpectedFinish, has_what_a_campaign_can_have) {
    const double kHour = 3600;
    const std::vector<Case> cases = {
        {"persistent", [](Setting& s) { s.checkpoints.persistent_every = 10, s.checkpoints.persistent_stall_s = 60; }},
        {"failed starts", [](Setting& s) { s.recovery.failed_start_share = 0.5; }},
        {"hangs", [](Setting& s) { s.failures[0].hang_share = 0.4, s.recovery.watchdog_s = 1800; }},
        {"soft", [](Setting& s) { s.failures[0].soft_share = 0.5; }},
        {"outages", [](Setting& s) { s.failures[0].outage_s = 3000; }},
        {"software", [](Setting& s) { s.failures.push_back(s.failures[0]), s.failures[1].nodes = 0; }},
        {"corruption", [](Setting& s) { s.checkpoints.persistent_every = 10, s.failures[0].corruption_share = 0.05; },
         0.02},
        {"corruption found soon",
         [](Setting& s) {
             s.recovery.corruption_s = 600, s.failures[0].corruption_share = 0.3;
             s.checkpoints.persistent_every = 10;
         },
         0.02},
        {"slow nodes",
         [=](Setting& s) {
             s.slow = {20 * kHour, 1.5, 2 * kHour};
         }},
        {"spread step", [](Setting& s) { s.step_sigma = 0.05; }},
        {"lemons",
         [](Setting& s) {
             s.nodes.lemon_share = 0.02, s.nodes.lemon_factor = 30;
             s.failures[0].mean_s *= 4;
         }},
        {"index", [](Setting& s) { s.prepare_s = 4000; }},
        {"walltime", [=](Setting& s) { s.blocks.walltime_s = 12 * kHour, s.blocks.queue_wait_s = 6 * kHour; }},
        {"walltime, spread queue",
         [=](Setting& s) {
             s.blocks = {24 * kHour, 6 * kHour, 0.8};
             s.nodes.spares = 0;
         },
         0.02},
        {"walltime, requeue",
         [=](Setting& s) {
             s.blocks = {24 * kHour, 3 * kHour};
             s.nodes.spares = 0;
             s.failures[0].mean_s = 15 * kHour;
         },
         0.02},
        {"walltime, software",
         [=](Setting& s) {
             s.blocks = {12 * kHour, 3 * kHour};
             s.nodes.spares = 0;
             s.recovery.software_requeues = true;
             s.failures[0].nodes = 0;
         },
         0.02},
        {"queue alone",
         [=](Setting& s) {
             s.blocks.queue_wait_s = 3 * kHour;
             s.nodes.spares = 0;
         }},
        {"no final save",
         [=](Setting& s) {
             s.blocks = {12 * kHour, 1 * kHour};
             s.checkpoints.at_block_end = false;
         },
         0.02},
        {"short blocks",
         [=](Setting& s) {
             s.blocks = {1 * kHour, 0.5 * kHour};
             s.failures[0].mean_s = 20 * kHour;
         },
         0.02},
        {"no spares", [=](Setting& s) { s.nodes.spares = 0, s.nodes.replenish_s = 1 * kHour; }, 0.02},
        {"maintenance",
         [=](Setting& s) {
             s.blocks.maintenance_every_s = s.blocks.first_maintenance_s = 168 * kHour,
             s.blocks.maintenance_s = 12 * kHour;
         },
         0.015},
        {"maintenance and blocks",
         [=](Setting& s) {
             s.blocks = {12 * kHour, 4 * kHour};
             s.blocks.maintenance_every_s = s.blocks.first_maintenance_s = 168 * kHour,
             s.blocks.maintenance_s = 12 * kHour;
         },
         0.02},
        {"short run", [=](Setting& s) { s.steps = 3000; }},
        {"short run in blocks",
         [=](Setting& s) {
             s.steps = 12000;
             s.blocks = {12 * kHour, 8 * kHour};
         },
         0.03},
    };
    for (const Case& one : cases) {
        Setting setting = long_run();
        one.change(setting);
        expect_played(one.what, setting, one.error);
    }
}

// The interval of closed_form_steps() is the one with the least expected time, among its neighbours and far ones.
TEST(ExpectedFinish, is_least_at_the_interval_of_the_closed_form) {
    for (const double write_s : {0.0, 100.0, 4'000.0}) {
        Setting setting = long_run();
        setting.checkpoints.write_s = write_s;
        setting.checkpoints.persistent_every = 10, setting.checkpoints.persistent_stall_s = 60;
        const std::int64_t best = closed_form_steps(setting);
        EXPECT_GE(static_cast<double>(best) * setting.step_s, write_s);
        const auto finish_s = [&](double steps) {
            setting.checkpoints.every_steps = static_cast<std::int64_t>(steps);
            return expected_finish(setting).elapsed_s;
        };
        const double least_s = finish_s(static_cast<double>(best));
        for (const double factor : {0.25, 0.5, 0.8, 1.25, 2.0, 4.0}) {
            EXPECT_GT(finish_s(factor * static_cast<double>(best)), least_s) << write_s << " " << factor;
        }
    }
}

TEST(ExpectedFinish, is_infinite_where_a_run_gets_nowhere) {
    Setting setting = long_run();
    setting.failures.front().mean_s = 1;  // e^(1,790 s / 1 s)
    EXPECT_TRUE(std::isinf(expected_finish(setting).elapsed_s));
    EXPECT_EQ(expected_finish(setting).goodput, 0);
    setting = long_run();
    setting.failures.clear();
    setting.blocks.walltime_s = 600;  // a start takes 530 s, a checkpoint 120
    EXPECT_TRUE(std::isinf(expected_finish(setting).node_hours));
}

TEST(ExpectedFinish, says_what_it_leaves_out) {
    Setting setting = long_run();
    EXPECT_TRUE(expected_finish(setting).left_out.empty());
    setting.checkpoints.copies = 1;
    setting.nodes.spares = 3;
    setting.failures.front().spacing = Spacing::kWeibull;
    setting.failures.front().shape = 0.7;
    EXPECT_EQ(expected_finish(setting).left_out.size(), 3U);
}

// As auspex campaign plays it: steps of the prediction, failures, storage and start of the files.
TEST(MachineSetting, of_aurora_finishes_as_it_is_played) {
    const std::string root = AUSPEX_SOURCE_DIR "/";
    const models::Inputs inputs = models::load_inputs(JsonDocument::load(root + "machines/aurora.json"),
                                                      JsonDocument::load(root + "stacks/optimus.json"),
                                                      JsonDocument::load(root + "workloads/mula-220b-a10b.json"),
                                                      JsonDocument::load(root + "plans/mula-220b-a10b.json"));
    const PredictedRunSize run{1024, 12'288, 128, 10, {9, 11.5}, 200'000, 0};
    MachineSetting made = machine_setting(inputs, run, {});
    Setting& setting = made.setting;
    EXPECT_EQ(setting.failures.size(), inputs.machine.reliability.parts.size());
    EXPECT_EQ(setting.checkpoints.copies, 2);
    EXPECT_EQ(setting.checkpoints.persistent_every, kPersistentEvery);
    EXPECT_NEAR(setting.step_sigma, std::log(11.5 / 9) / 3.29, 1e-12);
    EXPECT_GT(made.bytes.all, made.bytes.model);
    EXPECT_GT(setting.recovery.swap_s, made.swap_s);  // a spare node gets the environment, too
    EXPECT_EQ(setting.prepare_s, 0);
    setting.checkpoints.every_steps = closed_form_steps(setting);
    expect_played("aurora", setting, 0.01);
    const Setting other = machine_setting(inputs, run, {.dual = false, .async = false, .persistent = false}).setting;
    EXPECT_EQ(other.checkpoints.copies, 1);
    EXPECT_EQ(other.checkpoints.write_s, 0);
    EXPECT_EQ(other.checkpoints.persistent_every, 0);
    EXPECT_NEAR(other.checkpoints.stall_s, setting.checkpoints.stall_s + setting.checkpoints.write_s, 1e-9);
    EXPECT_EQ(steps_of_tokens(10.5, 2, "--tokens"), 6);
    EXPECT_THROW(static_cast<void>(steps_of_tokens(3e9, 2, "--tokens")), InputError);
}

}  // namespace
}  // namespace auspex::campaign
