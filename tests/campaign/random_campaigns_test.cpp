/// @file What holds of every campaign, whatever it is: 20,000 random ones, or as many as AUSPEX_CAMPAIGNS says.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cstdlib>
#include <numeric>

#include "base/rng.hpp"
#include "campaign/player.hpp"
#include "settings.hpp"

namespace auspex::campaign {
namespace {

/// Log-uniform.
double between(Rng& rng, double low, double high) { return low * std::pow(high / low, rng.uniform()); }
bool chance(Rng& rng, double share) { return rng.uniform() < share; }
double maybe(Rng& rng, double low, double high) { return chance(rng, 0.5) ? between(rng, low, high) : 0; }

FailureSource random_source(Rng& rng, double step_s) {
    FailureSource source;
    source.component = source.cause = "part";
    source.mean_s = between(rng, 100, 100'000) * step_s;
    source.nodes = static_cast<int>(rng.below(4));
    const std::uint64_t spacing = rng.below(3);
    source.spacing = static_cast<Spacing>(spacing);
    source.shape = between(rng, 0.5, 2);
    for (double time_s = 0; source.spacing == Spacing::kTrace && source.times_s.size() < 30;) {
        time_s += between(rng, 0.1, 1'000) * step_s;
        source.times_s.push_back(time_s);
    }
    source.hang_share = maybe(rng, 0.01, 0.3);
    source.soft_share = maybe(rng, 0.01, 0.3);
    source.corruption_share = maybe(rng, 0.01, 0.3);
    source.detection_s = maybe(rng, 0.1, 100);
    source.outage_s = chance(rng, 0.1) ? between(rng, 1, 1'000) : 0;
    return source;
}

Setting random_campaign(Rng& rng) {
    Setting s;
    s.steps = 1 + static_cast<std::int64_t>(rng.below(3'000));
    s.step_s = between(rng, 0.01, 50);
    s.step_sigma = maybe(rng, 0.001, 0.2);
    s.starts_cold = chance(rng, 0.5);
    s.checkpoints = {.every_steps = 1 + static_cast<std::int64_t>(rng.below(200)),
                     .stall_s = maybe(rng, 0.01, 5) * s.step_s,
                     .write_s = maybe(rng, 0.01, 100) * s.step_s,
                     .copies = 1 + static_cast<int>(rng.below(3)),
                     .persistent_every = static_cast<int>(rng.below(10)),
                     .persistent_stall_s = maybe(rng, 0.01, 1),
                     .at_block_end = chance(rng, 0.5)};
    s.recovery = {.swap_s = maybe(rng, 1, 100),
                  .environment_s = maybe(rng, 1, 300),
                  .restart_s = maybe(rng, 1, 100),
                  .initialise_s = maybe(rng, 1, 100),
                  .load_s = maybe(rng, 1, 100),
                  .failed_start_share = maybe(rng, 0.01, 0.5),
                  .watchdog_s = between(rng, 10, 2'000),
                  .corruption_s = between(rng, 1, 2'000) * s.step_s,
                  .software_requeues = chance(rng, 0.5),
                  .is_interruptible = chance(rng, 0.7)};
    s.nodes = {.count = 8 + static_cast<int>(rng.below(2'000)),
               .spares = {},
               .replenish_s = between(rng, 100, 100'000),
               .replenish_sigma = maybe(rng, 0.1, 2),
               .lemon_share = maybe(rng, 0.01, 0.1),
               .lemon_factor = between(rng, 1, 30)};
    if (chance(rng, 0.5)) {
        s.nodes.spares = static_cast<int>(rng.below(20));
    }
    if (chance(rng, 0.4)) {
        s.blocks.walltime_s = between(rng, 500, 5'000) * s.step_s + 1'000;
        s.blocks.queue_wait_s = between(rng, 10, 10'000);
        s.blocks.queue_wait_sigma = maybe(rng, 0.1, 2);
    }
    if (chance(rng, 0.3)) {
        s.blocks.maintenance_every_s = 10'000 + between(rng, 1'000, 100'000) * s.step_s;
        s.blocks.maintenance_s = between(rng, 10, 5'000);
        s.blocks.first_maintenance_s = between(rng, 1, 10'000);
    }
    if (chance(rng, 0.3)) {
        s.slow = {between(rng, 100, 10'000), between(rng, 1, 2), between(rng, 10, 1'000)};
    }
    for (std::uint64_t i = rng.below(4); i > 0; --i) {
        s.failures.push_back(random_source(rng, s.step_s));
    }
    return s;
}

/// What is wrong with it; empty: nothing.
std::string fault_of(const Setting& setting, const Outcome& one) {
    if (std::accumulate(one.spent.begin(), one.spent.end(), Nanoseconds{0}) != one.elapsed) {
        return "what time went to does not add up to it";
    }
    if (std::ranges::any_of(one.spent, [](Nanoseconds time) { return time < 0; })) {
        return "time ran backwards";
    }
    if (one.held > one.elapsed || one.exposed > one.held) {
        return "more is held than there is, or more exposed than held";
    }
    if (one.replayed_steps > one.lost_steps || (one.is_finished && one.replayed_steps != one.lost_steps)) {
        return "not every lost step was replayed";
    }
    if (std::accumulate(one.lost_to.begin(), one.lost_to.end(), Nanoseconds{0}) > one.elapsed) {
        return "more was lost to failures than there was";
    }
    const auto work_s = to_seconds(one.spent[static_cast<std::size_t>(Spent::kWork)]);
    if (one.is_finished && setting.step_sigma == 0 &&
        std::abs(work_s - static_cast<double>(setting.steps) * setting.step_s) > 1e-5 + 1e-7 * work_s) {
        return "goodput is not the steps' time";
    }
    Nanoseconds end = 0;
    for (const Period& period : one.periods) {
        if (period.begin != end || period.end <= period.begin) {
            return "periods do not follow one another";
        }
        end = period.end;
    }
    return "";
}

TEST(RandomCampaigns, time_adds_up_and_lost_steps_are_replayed) {
    const char* const wanted = std::getenv("AUSPEX_CAMPAIGNS");
    const int count = wanted != nullptr ? std::atoi(wanted) : 20'000;
    int finished = 0, faults = 0;
    for (int i = 0; i < count && faults < 5; ++i) {
        Rng rng(static_cast<std::uint64_t>(i));
        const Setting setting = random_campaign(rng);
        const Outcome one = play_sample(setting, {1, static_cast<std::uint64_t>(i), i % 2 == 0});
        const std::string fault = fault_of(setting, one);
        faults += fault.empty() ? 0 : 1;
        EXPECT_EQ(fault, "") << "campaign " << i;
        finished += one.is_finished ? 1 : 0;
    }
    EXPECT_GT(finished, count / 2);
}

TEST(RandomCampaigns, intervals_played_at_once_are_those_played_one_by_one) {
    for (std::uint64_t i = 0; i < 2'000; ++i) {
        Rng rng(i);
        const Setting setting = random_campaign(rng);
        const Outcome at_once = play_sample(setting, {1, i, false}), one_by_one = play_sample(setting, {1, i, true});
        if (at_once.is_finished && one_by_one.is_finished) {
            EXPECT_EQ(at_once.spent, one_by_one.spent) << "campaign " << i;
            EXPECT_EQ(at_once.checkpoints, one_by_one.checkpoints);
            EXPECT_EQ(at_once.windows, one_by_one.windows);
        }
    }
}

TEST(RandomCampaigns, the_number_of_threads_changes_nothing) {
    for (std::uint64_t i = 0; i < 20; ++i) {
        Rng rng(i);
        const Setting setting = random_campaign(rng);
        std::vector<Result> results;
        for (const std::size_t threads : {1U, 2U, 7U}) {
            const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
            results.push_back(play_campaign(setting, {64, i}));
        }
        for (const Result& result : results) {
            EXPECT_EQ(result.samples_elapsed_s, results.front().samples_elapsed_s);
            EXPECT_EQ(result.shares, results.front().shares);
            EXPECT_EQ(result.spares_needed_p99, results.front().spares_needed_p99);
        }
        // More samples begin with the same ones.
        const Result fewer = play_campaign(setting, {10, i});
        EXPECT_TRUE(std::equal(fewer.samples_elapsed_s.begin(), fewer.samples_elapsed_s.end(),
                               results.front().samples_elapsed_s.begin()));
    }
}

}  // namespace
}  // namespace auspex::campaign
