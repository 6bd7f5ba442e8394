/// @file Two groups whose direct links are full: what packets do, beside the closed forms of the fluid picture.
#include <gtest/gtest.h>

#include <algorithm>

#include "packets/aurora_pair.hpp"

namespace auspex::packets {
namespace {

constexpr double kDirect = 40e9;  // C: two links of 25 GB/s less 20 %
constexpr double kRank = 6.2e9;   // b
constexpr double kWindow = 240 * 1024;
constexpr double kBias = 14.8e-6;
constexpr int kRanks = 96;

Outcome at_load(double offered, Policy policy = Policy::kAdaptive, Sight sight = Sight::kSourceGroup) {
    Experiment experiment = aurora_pair(kBias);
    experiment.routing.policy = policy;
    experiment.routing.sight = sight;
    experiment.transport = {.bytes_per_s = offered / kRanks, .is_poisson = true};
    experiment.until_s = experiment.warm_s + (offered < 100e9 ? 4e-3 : 1.5e-3);
    return run(experiment);
}

FullPair pair_of(int ranks = kRanks) {
    Experiment experiment = aurora_pair(kBias);
    experiment.pattern.ranks = ranks;
    return full_pair(experiment);
}

Experiment windowed(int ranks, Transport (*transport)(double, double, Return, const Timing&), Return by) {
    Experiment experiment = aurora_pair(kBias);
    experiment.pattern.ranks = ranks;
    experiment.transport = transport(kRank, kWindow, by, experiment.timing);
    experiment.message_bytes = kWindow;
    return experiment;
}

double formula(const Experiment& experiment) { return windowed_rate(full_pair(experiment), rank_alone(experiment)); }

TEST(FullPair, all_packets_go_directly_and_none_waits_long_while_they_fit) {
    const Outcome seen = at_load(30e9);
    EXPECT_EQ(seen.minimal_share, 1);
    // Two servers at load 0.75: less than M/D/1 at that load, 1.5 packets of 0.2 us.
    EXPECT_LT(seen.delay_s, md1_wait_s(0.75, 4096 / 20e9));
}

TEST(FullPair, what_stays_direct_is_the_capacity_and_no_share) {
    for (const double offered : {80e9, 320e9, 595e9}) {
        const Outcome seen = at_load(offered);
        EXPECT_NEAR(seen.rank_bytes_per_s * kRanks / offered, 1, 0.01) << offered;
        EXPECT_NEAR(seen.minimal_bytes_per_s / kDirect, 1, 0.015) << offered;
    }
    // Minimal routing stops at C; so does adaptive routing at switches that see their own ports only, where queues have
    // no bound: only the ranks on the gateway's own switch (3 of 96) see the full link.
    EXPECT_NEAR(at_load(320e9, Policy::kMinimal).rank_bytes_per_s * kRanks / kDirect, 1, 0.01);
    EXPECT_LT(at_load(320e9, Policy::kAdaptive, Sight::kOwnPorts).rank_bytes_per_s * kRanks, 1.3 * kDirect);
}

TEST(FullPair, the_direct_queue_stands_at_the_bias_and_what_joins_unseen) {
    for (const double offered : {50e9, 80e9, 160e9, 320e9, 595e9}) {
        const Outcome seen = at_load(offered);
        const double wait_s = standing_wait_s(pair_of(), offered);
        EXPECT_NEAR(seen.minimal_delay_s / wait_s, 1, 0.06) << offered;
        EXPECT_GT(seen.minimal_delay_s, 0.97 * kBias) << offered;
        EXPECT_LT(seen.detour_delay_s, 1e-6) << offered;  // one hop and two links more, 1.1 us at most; here 0.6 us
        // By hand at 595 GB/s: packets on their way for 0.164 + 0.35 us join unseen, (595 / 40 - 1) 0.514 / 2 = 3.56
        // us.
    }
    EXPECT_NEAR(standing_wait_s(pair_of(), 595e9), kBias + 3.56e-6, 0.01e-6);
}

TEST(FullPair, a_message_is_late_by_less_than_the_queue_waits) {
    // A message's last packets need not have taken the queue: at 320 GB/s one in 8 does, every g = 4096 B / 3.33 GB/s x
    // 7 = 8.6 us one of a rank's; D = 16.6 us less g (1 - exp(-D / g)) = 7.35 us. The queue's own ups and downs are
    // left out: 10 %.
    for (const double offered : {50e9, 80e9, 160e9, 320e9, 595e9}) {
        const double rank = offered / kRanks;
        const Outcome seen = at_load(offered);
        const double late_s = message_delay_s(pair_of(), offered, rank, 128 * 1024 / rank);
        EXPECT_NEAR(seen.last_delay_s / late_s, 1, 0.1) << offered;
        EXPECT_LT(seen.last_delay_s, seen.minimal_delay_s) << offered;
    }
    EXPECT_NEAR(message_delay_s(pair_of(), 320e9, 320e9 / 96, 1), 16.6e-6 - 7.35e-6, 0.1e-6);
}

TEST(FullPair, small_messages_at_once_wait_for_one_another_only) {
    // 24 messages of 8 KiB are 4.9 us of the direct links, less than the bias: all go directly, the last is complete
    // when they have drained, less what its own packets take to send (1.3 us).
    Experiment experiment = aurora_pair(kBias);
    experiment.pattern.ranks = 24;
    experiment.transport = {.bytes_per_s = kRank};
    experiment.message_bytes = 8192;
    experiment.messages = 1;
    experiment.warm_s = 0;
    const Outcome seen = run(experiment);
    EXPECT_EQ(seen.minimal_share, 1);
    EXPECT_EQ(seen.whole_messages, 24U);
    EXPECT_NEAR(seen.last_delay_max_s, 24 * 8192 / kDirect - 8192 / kRank, 0.7e-6);
    // 1 MiB: most detour, and the slowest is late by the queue's wait.
    experiment.message_bytes = 1 << 20;
    const Outcome large = run(experiment);
    EXPECT_LT(large.minimal_share, 0.35);
    EXPECT_NEAR(large.last_delay_max_s, kBias, 0.15 * kBias);
}

TEST(Windows, ranks_keep_their_rate_where_the_direct_links_hold_them) {
    // 6 x 6.2 = 37.2 GB/s
    EXPECT_NEAR(run(windowed(6, latency_bound, Return::kInOrder)).rank_bytes_per_s / kRank, 1, 0.01);
    EXPECT_NEAR(run(windowed(6, paced, Return::kInOrder)).rank_bytes_per_s / kRank, 1, 0.01);
    // Given back whole, a window costs a round trip of 2.6 us less a packet's 0.66 us to 39.6 us.
    const Experiment whole = windowed(6, paced, Return::kWhole);
    EXPECT_NEAR(formula(whole), kWindow / (39.64e-6 + 2.61e-6 - 0.66e-6), 0.01e9);
    EXPECT_NEAR(run(whole).rank_bytes_per_s / formula(whole), 1, 0.01);
}

TEST(Windows, given_back_whole_or_in_order_at_latency_they_lose_what_the_fluid_form_says) {
    // 1 / (1 / 6.2 + 14.8 us / 240 KiB) = 4.51 GB/s. That a round trip is added and that a message is late by less than
    // d make about the same.
    EXPECT_NEAR(fluid_rate(kRank, kWindow, kBias), 4.514e9, 0.001e9);
    for (const int ranks : {12, 24, 48, 96}) {
        const Experiment whole = windowed(ranks, paced, Return::kWhole);
        const Experiment in_order = windowed(ranks, latency_bound, Return::kInOrder);
        const double seen = run(whole).rank_bytes_per_s, seen_in_order = run(in_order).rank_bytes_per_s;
        EXPECT_NEAR(seen / fluid_rate(kRank, kWindow, kBias), 1, 0.03) << ranks;
        EXPECT_NEAR(seen / formula(whole), 1, 0.04) << ranks;
        EXPECT_NEAR(seen_in_order / fluid_rate(kRank, kWindow, kBias), 1, 0.09) << ranks;
        EXPECT_NEAR(seen_in_order / formula(in_order), 1, 0.03) << ranks;
    }
    // With four times the ranks few packets of a window take the queue: the fluid form is 15 % too low.
    const Experiment many = windowed(384, paced, Return::kWhole);
    const double seen = run(many).rank_bytes_per_s;
    EXPECT_GT(seen / fluid_rate(kRank, kWindow, kBias), 1.13);
    EXPECT_NEAR(seen / formula(many), 1, 0.04);
}

TEST(Windows, that_are_longer_than_the_wait_hide_it) {
    // Half a window takes 19.8 us to send, more than the wait: the other half is back before that.
    EXPECT_NEAR(run(windowed(kRanks, paced, Return::kHalves)).rank_bytes_per_s / kRank, 1, 0.02);
    EXPECT_NEAR(run(windowed(kRanks, paced, Return::kInOrder)).rank_bytes_per_s / kRank, 1, 0.01);
}

TEST(Windows, given_back_in_any_order_lose_what_stands_in_the_queue) {
    // Little: of 96 x 240 KiB = 23.6 MB on their way D C = 0.7 MB stand in the queue; 3 %.
    const Experiment experiment = windowed(kRanks, latency_bound, Return::kAnyOrder);
    const Outcome seen = run(experiment);
    EXPECT_GT(seen.rank_bytes_per_s, 0.95 * kRank);
    EXPECT_NEAR(seen.rank_bytes_per_s / formula(experiment), 1, 0.015);
}

TEST(Windows, of_few_ranks_get_the_direct_links_and_the_queue_does_not_reach_the_bias) {
    // 8 x 6.2 = 49.6 GB/s do not fit, 8 x 4.51 would: they settle at C / 8 = 5 GB/s, and wait w / 5 - w / 6.2 = 9.5 us.
    const Experiment experiment = windowed(8, latency_bound, Return::kInOrder);
    const Outcome seen = run(experiment);
    EXPECT_NEAR(seen.rank_bytes_per_s, kDirect / 8, 0.01 * kDirect / 8);
    EXPECT_NEAR(formula(experiment), kDirect / 8, 1);
    EXPECT_NEAR(seen.minimal_delay_s, 9.5e-6, 0.4e-6);
    EXPECT_NEAR(run(windowed(8, paced, Return::kWhole)).rank_bytes_per_s, kDirect / 8, 0.03 * kDirect / 8);
}

}  // namespace
}  // namespace auspex::packets
