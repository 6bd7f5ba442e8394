/// @file The closed form of runs that are put together at random, of sizes that machines have, against what is played.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/rng.hpp"
#include "campaign/campaign.hpp"
#include "campaign/finish/expected_finish.hpp"

namespace auspex::campaign {
namespace {

constexpr double kHour = 3600, kDay = 86'400;

/// Log-uniform.
double between(Rng& rng, double low, double high) { return low * std::pow(high / low, rng.uniform()); }
bool chance(Rng& rng, double share) { return rng.uniform() < share; }
double maybe(Rng& rng, double low, double high) { return chance(rng, 0.5) ? between(rng, low, high) : 0; }

FailureSource random_source(Rng& rng, bool has_persistent, int number) {
    FailureSource source;
    source.component = source.cause = "part";
    source.mean_s = between(rng, 8, 300) * kHour;
    source.nodes = number == 2 ? 0 : 1;
    source.hang_share = number == 0 ? maybe(rng, 0.05, 0.5) : 0;
    source.soft_share = number == 1 ? maybe(rng, 0.05, 0.3) : 0;
    source.corruption_share = number == 1 && has_persistent && chance(rng, 0.3) ? between(rng, 0.01, 0.1) : 0;
    source.detection_s = maybe(rng, 10, 300);
    source.outage_s = chance(rng, 0.1) ? between(rng, 100, 2 * kHour) : 0;
    return source;
}

Setting random_run(Rng& rng) {
    Setting s;
    s.step_s = between(rng, 1, 30);
    s.steps = static_cast<std::int64_t>(between(rng, 2, 60) * kDay / s.step_s);
    s.starts_cold = true;
    s.prepare_s = maybe(rng, 10, 1'000);
    s.nodes.count = 1'000;
    s.checkpoints = {.every_steps = 1,
                     .stall_s = between(rng, 1, 100),
                     .write_s = maybe(rng, 10, 1'000),
                     .copies = 2,
                     .persistent_every = chance(rng, 0.5) ? 10 : 0,
                     .persistent_stall_s = between(rng, 5, 60),
                     .at_block_end = chance(rng, 0.8)};
    s.recovery.swap_s = maybe(rng, 10, 300);
    s.recovery.environment_s = maybe(rng, 10, 300);
    s.recovery.restart_s = between(rng, 10, 600);
    s.recovery.initialise_s = maybe(rng, 10, 600);
    s.recovery.load_s = between(rng, 10, 600);
    s.recovery.failed_start_share = maybe(rng, 0.05, 0.6);
    for (int number = 0; number < 3; ++number) {
        s.failures.push_back(random_source(rng, s.checkpoints.persistent_every > 0, number));
    }
    if (chance(rng, 0.5)) {
        s.blocks.walltime_s = between(rng, 6, 48) * kHour;
        s.blocks.queue_wait_s = maybe(rng, 0.5, 12) * kHour;
        s.blocks.queue_wait_sigma = maybe(rng, 0.2, 1);
        s.recovery.software_requeues = chance(rng, 0.3);
        s.nodes.spares = chance(rng, 0.5) ? std::optional(0) : std::nullopt;
    }
    if (chance(rng, 0.3)) {
        s.blocks.maintenance_every_s = s.blocks.first_maintenance_s = between(rng, 5, 30) * kDay;
        s.blocks.maintenance_s = between(rng, 4, 24) * kHour;
    }
    if (chance(rng, 0.2)) {
        s.slow = {between(rng, 1e5, 1e6), between(rng, 1.1, 2), between(rng, 1e3, 1e5)};
    }
    if (chance(rng, 0.2)) {
        s.nodes.lemon_share = between(rng, 0.005, 0.05);
        s.nodes.lemon_factor = between(rng, 2, 30);
    }
    const double steps = static_cast<double>(closed_form_steps(s)) * between(rng, 0.5, 2);
    s.checkpoints.every_steps = std::clamp<std::int64_t>(std::llround(steps), 1, s.steps);
    return s;
}

// Of 200 runs the mean is off by 0.5 % at most in the mean, each by 4 %, or four standard errors where that is more.
TEST(ExpectedFinish, of_random_runs_is_near_the_mean_of_what_is_played) {
    constexpr int kRuns = 200;
    Rng rng(5);
    double sum = 0;
    for (int i = 0; i < kRuns; ++i) {
        const Setting setting = random_run(rng);
        const ExpectedFinish found = expected_finish(setting);
        const Result played = play_campaign(setting, {200, 3});
        ASSERT_EQ(played.given_up, 0) << i;
        const double error = found.elapsed_s / played.elapsed_s.mean - 1;
        const double noise = played.elapsed_error_s / played.elapsed_s.mean;
        EXPECT_LE(std::abs(error), std::max(0.04, 4 * noise)) << i;
        EXPECT_LE(std::abs(found.node_hours / played.node_hours.mean - 1), std::max(0.04, 4 * noise)) << i;
        sum += std::abs(error);
    }
    EXPECT_LE(sum / kRuns, 0.005);
}

}  // namespace
}  // namespace auspex::campaign
