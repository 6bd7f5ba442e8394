/// @file Forecasts against closed forms, and against what can be counted by hand.
#include "workflows/endure/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "campaign/player.hpp"

namespace auspex::workflows {
namespace {

Pieces round_pieces() {
    Pieces pieces;
    pieces.step.mean_s = 0.01, pieces.stall.mean_s = 0.02;
    pieces.begin.mean_s = 0.5, pieces.end.mean_s = 0.1;
    pieces.detection.mean_s = 0.05, pieces.relaunch.mean_s = 0.01, pieces.start.mean_s = 0.04;
    pieces.initialise.mean_s = 0.25, pieces.load.mean_s = 0.05, pieces.warm_up.mean_s = 0.05;
    return pieces;
}

EndureRun run_of(int steps, std::vector<double> kills_s = {}) { return {steps, round_pieces(), std::move(kills_s)}; }

/// No kill: begin + steps + stalls + end.
TEST(Forecast, of_a_run_that_no_kill_reaches_is_an_addition) {
    const std::vector<EndureRun> runs{run_of(100, {1e6})};
    const Forecast played = replayed({10, 2}, runs);
    EXPECT_NEAR(played.goodput, 1.0 / (0.5 + 1.0 + 10 * 0.02 + 0.1), 1e-9);
    EXPECT_EQ(played.kills, 0);
    EXPECT_EQ(played.recovery_s, 0);
}

/// A kill at 0.455 s of exposure: after steps and stalls of three intervals of 0.12 s, nine whole steps of the fourth.
TEST(Forecast, of_a_kill_that_is_known_counts_its_cost) {
    const std::vector<EndureRun> runs{run_of(100, {0.455, 1e6})};
    const Forecast played = replayed({10, 2}, runs);
    EXPECT_EQ(played.kills, 1);
    EXPECT_EQ(played.lost_steps, 9);
    EXPECT_NEAR(played.recovery_s, 0.1 + 0.25 + 0.05, 1e-9);  // to the first step: its slowness comes later
    EXPECT_NEAR(1.0 / played.goodput, 0.5 + 1.2 + 0.1 + (0.1 + 0.35) + 0.095, 1e-9);
}

/// A kill 0.2 s after processes are there again, in a rise of 0.35 s: dead time and rise begin anew.
TEST(Forecast, a_kill_in_a_restart_begins_it_anew) {
    const std::vector<EndureRun> once{run_of(100, {0.455, 1e6})}, twice{run_of(100, {0.455, 0.655, 1e6})};
    const EndureSetting setting{10, 2};
    EXPECT_NEAR(1 / replayed(setting, twice).goodput - 1 / replayed(setting, once).goodput, 0.1 + 0.2, 1e-9);
}

/// Played means lie within 1 % of the closed form with dead time.
TEST(Forecast, agrees_with_the_closed_form) {
    for (const double mtbf_s : {1.0, 4.0}) {
        for (const int every : {5, 40}) {
            const EndureSetting setting{every, mtbf_s};
            const std::vector<EndureRun> runs(3, run_of(800));
            const Forecast played = forecast(setting, runs, 1000, 1);
            EXPECT_NEAR(played.goodput / closed_form_goodput(setting, runs), 1, 0.01) << mtbf_s << " " << every;
            EXPECT_LT(played.p10, played.goodput);
            EXPECT_GT(played.p90, played.goodput);
        }
    }
}

/// M e^(R/M) (e^((t + d)/M) - 1), and a dead time for each of exposed/M kills.
TEST(Forecast, a_segment_is_the_closed_form_and_its_dead_time) {
    const SegmentTimes times = segment_times(round_pieces(), 2, 10);
    const double exposed_s = 2 * std::exp(0.35 / 2) * std::expm1(0.12 / 2);
    EXPECT_NEAR(times.exposed_s, exposed_s, 1e-12);
    EXPECT_NEAR(times.all_s, exposed_s * (1 + 0.1 / 2), 1e-12);
}

TEST(Forecast, steps_are_planned_for_kills) {
    const EndureSetting setting{10, 2};
    const int steps = steps_for_kills(setting, round_pieces(), 6);
    EXPECT_EQ(steps % 10, 0);
    const std::vector<EndureRun> runs{run_of(steps)};
    EXPECT_NEAR(forecast(setting, runs, 1000, 1).kills, 6, 0.4);
    EXPECT_EQ(steps_for_kills(setting, round_pieces(), 1e-9), 10);  // an interval at least
}

TEST(Forecast, the_same_seed_gives_the_same) {
    const std::vector<EndureRun> runs{run_of(200)};
    const EndureSetting setting{10, 2};
    EXPECT_EQ(forecast(setting, runs, 50, 3).goodput, forecast(setting, runs, 50, 3).goodput);
    EXPECT_NE(forecast(setting, runs, 50, 3).goodput, forecast(setting, runs, 50, 4).goodput);
}

TEST(Forecast, the_best_interval_lies_where_goodput_is_largest) {
    const double best = best_interval_steps(round_pieces(), 2);
    const auto goodput = [](int every) { return closed_form_goodput({every, 2}, std::vector{run_of(every * 1000)}); };
    const int at = static_cast<int>(std::lround(best));
    EXPECT_GT(goodput(at), goodput(at / 2));
    EXPECT_GT(goodput(at), goodput(at * 2));
}

}  // namespace
}  // namespace auspex::workflows
