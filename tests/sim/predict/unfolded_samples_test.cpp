/// @file What chance does to an unfolded step: tiles, interruptions, routing; samples and their percentiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "unfolded_fixture.hpp"

namespace auspex::predict {
namespace {

using namespace testing_unfolded;
using testing_steps::random_inputs;

TEST(Unfolded, losses_of_every_sample_sum_to_its_step_and_none_is_negative) {
    for (std::uint64_t seed = 7'000; seed < 7'040; ++seed) {
        const models::Inputs inputs = random_inputs(seed, seed % 2 == 0);
        for (const UnfoldedSample& sample : unfolded(inputs, 0, {.seed = seed, .samples = 2}).samples) {
            EXPECT_EQ(std::accumulate(sample.losses.begin(), sample.losses.end(), Picoseconds{0}), sample.step) << seed;
            for (const Picoseconds loss : sample.losses) {
                EXPECT_GE(loss, 0) << seed;
            }
            EXPECT_LE(sample.forward_backward, sample.step) << seed;
        }
    }
}

TEST(Unfolded, more_spread_of_tile_speeds_does_not_speed_a_step_up) {
    models::Inputs inputs = quiet_inputs("mula-220b-a10b");
    double before_s = to_seconds(folded(inputs, 384).step);
    for (const double sigma : {0.01, 0.02, 0.04}) {
        inputs.machine.tile.speed_sigma = sigma;
        const double now_s = mean_step_s(unfolded(inputs, 384, {.samples = 5}));
        EXPECT_GT(now_s, before_s) << sigma;
        before_s = now_s;
    }
}

TEST(Unfolded, interruptions_cost_a_lone_rank_their_rate_times_their_length) {
    // A busy second meets 50 interruptions of 2 ms in the mean: a tenth more. Over 100 samples the mean is within three
    // deviations of sqrt(2 / (100 x 50 x busy seconds)).
    models::Inputs inputs = quiet_inputs("mula-1b");
    inputs.plan.micro_batches = 1;
    const double even_s = to_seconds(folded(inputs, 1).step);
    inputs.machine.noise.os_events_per_s = 50;
    inputs.machine.noise.os_event_s = 2e-3;
    const double noisy_s = mean_step_s(unfolded(inputs, 1, {.samples = 100}));
    const double expected_s = even_s * 50 * 2e-3;
    EXPECT_NEAR(noisy_s - even_s, expected_s, 3 * expected_s * std::sqrt(2 / (100 * 50 * even_s)));
}

TEST(Unfolded, as_many_interruptions_as_a_machine_may_have_cost_their_rate_times_their_length) {
    // A million a second of half a microsecond each: half a second in a busy one. Over 4 samples the mean is within
    // three deviations of sqrt(2 / (4 x 1e6 x busy seconds)), and a millionth for what pieces leave over.
    models::Inputs inputs = quiet_inputs("mula-1b");
    inputs.plan.micro_batches = 1;
    const double even_s = to_seconds(folded(inputs, 1).step);
    inputs.machine.noise.os_events_per_s = 1e6;
    inputs.machine.noise.os_event_s = 0.5e-6;
    const double noisy_s = mean_step_s(unfolded(inputs, 1, {.samples = 4}));
    const double expected_s = even_s * 0.5;
    EXPECT_NEAR(noisy_s - even_s, expected_s, expected_s * (3 * std::sqrt(2 / (4e6 * even_s)) + 1e-6));
}

TEST(Unfolded, uneven_routing_makes_the_others_wait_for_the_busiest_rank) {
    models::Inputs inputs = quiet_inputs("mula-20b-a2b");
    inputs.plan.routing.kind = models::RoutingDistribution::kZipf;
    inputs.plan.routing.parameter = 1;
    const SimulatedStep as_folded = folded(inputs, 96);
    const UnfoldedSample by_rank = play_unfolded(inputs, as_folded, {}).samples.front();
    const auto imbalance = static_cast<std::size_t>(schedule::Loss::kImbalance);
    EXPECT_GT(by_rank.losses[imbalance], 0);
    // The busiest place sets the pace of every layer, as it does folded.
    EXPECT_NEAR(to_seconds(by_rank.step), to_seconds(as_folded.step), 0.01 * to_seconds(as_folded.step));
}

TEST(Unfolded, the_same_seed_gives_the_same_samples_with_one_and_four_threads_and_another_seed_others) {
    models::Inputs small = shipped_inputs("mula-220b-a10b");
    small.plan.dp = 0;
    const auto steps_with = [&](int threads, std::uint64_t seed) {
        std::vector<Picoseconds> steps;
        for (const UnfoldedSample& sample :
             unfolded(small, 192, {.seed = seed, .samples = 6, .threads = threads}).samples) {
            steps.push_back(sample.step);
            steps.insert(steps.end(), sample.losses.begin(), sample.losses.end());
        }
        return steps;
    };
    const std::vector<Picoseconds> one = steps_with(1, 7);
    EXPECT_EQ(one, steps_with(4, 7));
    EXPECT_NE(one, steps_with(4, 8));
}

TEST(Unfolded, the_prediction_is_of_the_median_sample_and_percentiles_are_in_order) {
    models::Inputs inputs = shipped_inputs("mula-220b-a10b");
    inputs.plan.dp = 0;
    PredictOptions options = plain_options(96);
    options.lens = Lens::kUnfolded;
    options.samples = 9;
    const Prediction p = predict(inputs, options).prediction;
    ASSERT_TRUE(p.unfolded.has_value());
    const UnfoldedReport& u = *p.unfolded;
    ASSERT_EQ(u.samples_s.size(), 9U);
    std::vector<double> sorted = u.samples_s;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(p.step_time_s, sorted[4]);
    EXPECT_EQ(u.p50_s, sorted[4]);
    EXPECT_EQ(u.min_s, sorted[0]);
    EXPECT_EQ(u.p5_s, sorted[0]);   // ceil(0.05 x 9) = 1st
    EXPECT_EQ(u.p25_s, sorted[2]);  // ceil(2.25) = 3rd
    EXPECT_EQ(u.p75_s, sorted[6]);
    EXPECT_EQ(u.p95_s, sorted[8]);
    EXPECT_EQ(u.max_s, sorted[8]);
    EXPECT_LT(u.min_s, u.max_s);
    EXPECT_EQ(std::accumulate(p.losses.begin(), p.losses.end(), Picoseconds{0}), p.step);
    EXPECT_DOUBLE_EQ(u.folded_error, u.folded_step_time_s / p.step_time_s - 1);
    EXPECT_EQ(u.folded_step_time_s, to_seconds(folded(inputs, 96).step));
    EXPECT_LT(p.step_time_interval_s.low, p.step_time_s);
    EXPECT_GT(p.step_time_interval_s.high, p.step_time_s);
}

}  // namespace
}  // namespace auspex::predict
