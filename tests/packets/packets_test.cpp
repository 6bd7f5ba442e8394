/// @file The model of packets against queueing theory and the exact loads of a dragonfly's channels.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <ostream>
#include <string>

#include "packets/closed_forms.hpp"
#include "packets/ranks.hpp"

namespace auspex::packets {
namespace {

/// Links that all send one packet in one second, no latency; every terminal sends at `load` packets a second.
Experiment small_dragonfly(Policy policy, int shift, double load) {
    Experiment experiment;
    experiment.shape = {.terminals = 2, .switches = 4, .ports = 2, .groups = 9, .links = 1};
    experiment.timing = {1, 1, 1, 1, 0};
    experiment.routing = {.policy = policy, .bias_s = 5};
    experiment.transport = {.bytes_per_s = load, .is_poisson = true};
    experiment.pattern = {.sending_groups = 9, .ranks = 8, .shift = shift};
    experiment.message_bytes = 16;
    experiment.warm_s = 500;
    experiment.until_s = 3500;
    return experiment;
}

double delivered_share(const Experiment& experiment) {
    const Outcome seen = run(experiment);
    return seen.rank_bytes_per_s / seen.sent_bytes_per_s;
}

TEST(Dragonfly, no_switch_holds_more_global_links_than_it_has_ports) {
    const Dragonfly aurora({.terminals = 16, .switches = 32, .ports = 11, .groups = 166, .links = 2});
    for (const int group : {0, 1, 80, 165}) {
        std::map<int, int> held;
        for (int other = 0; other < 166; ++other) {
            for (int parallel = 0; parallel < 2 && other != group; ++parallel) {
                ++held[aurora.gateway(group, other, parallel)];
            }
        }
        int links = 0;
        for (const auto& [at, count] : held) {
            EXPECT_EQ(aurora.group_of_switch(at), group);
            EXPECT_LE(count, 11);
            links += count;
        }
        EXPECT_EQ(links, 330);  // 165 other groups, 2 links each
    }
}

TEST(Dragonfly, links_side_by_side_share_the_switches_at_both_ends) {
    // Ports of group 0: 0, 1, 2 to group 1, then 3, 4, 5 to group 2; a switch has two. Groups 1 and 2 hold their links
    // to group 0 on ports 0, 1, 2 as well.
    const Dragonfly dragonfly({.terminals = 1, .switches = 3, .ports = 2, .groups = 3, .links = 3});
    const LinkId to_1 = dragonfly.global(0, 1, 0), to_2 = dragonfly.global(0, 2, 0);
    EXPECT_EQ(dragonfly.first_parallel(to_1 + 2), to_1);
    EXPECT_TRUE(dragonfly.are_side_by_side(to_1, to_1 + 1));
    EXPECT_FALSE(dragonfly.are_side_by_side(to_1, to_1 + 2));
    EXPECT_FALSE(dragonfly.are_side_by_side(to_2, to_2 + 1));      // they begin at switches 1 and 2
    EXPECT_FALSE(dragonfly.are_side_by_side(to_2 + 1, to_2 + 2));  // begin at switch 2, end at switches 0 and 1
}

TEST(Queue, waits_as_pollaczek_and_khinchine_say) {
    // 16 Poisson sources through links without service time into one link with service time 1: M/D/1. Waits of
    // successive packets are alike over about 1 / (1 - load)^2 packets, so 4e5 s leave about 1.5 % of noise at load
    // 0.8.
    for (const double load : {0.3, 0.5, 0.8}) {
        Experiment experiment;
        experiment.shape = {.terminals = 16, .switches = 1, .ports = 1, .groups = 2, .links = 1};
        experiment.timing = {1e30, 1e30, 1, 1, 0};
        experiment.routing.policy = Policy::kMinimal;
        experiment.transport = {.bytes_per_s = load / 16, .is_poisson = true};
        experiment.pattern = {.sending_groups = 1, .ranks = 16, .shift = 1};
        experiment.message_bytes = 1;
        experiment.warm_s = 1000;
        experiment.until_s = 400e3;
        EXPECT_NEAR(run(experiment).delay_s / md1_wait_s(load, 1), 1, 0.03) << load;
    }
    EXPECT_DOUBLE_EQ(md1_wait_s(0.8, 1), 2);
}

struct Saturation {
    const char* name;
    Policy policy;
    int shift;
    double load;  ///< of a terminal's link, at which the busiest channel is full
};

std::ostream& operator<<(std::ostream& out, const Saturation& of) { return out << of.name; }

class OfPattern : public testing::TestWithParam<Saturation> {};

TEST_P(OfPattern, saturates_where_its_busiest_channel_is_full) {
    const Saturation& expected = GetParam();
    Experiment experiment = small_dragonfly(expected.policy, expected.shift, 0.9 * expected.load);
    // About 2e4 packets on each of the busiest links, each count off by 1 / sqrt(2e4) = 0.7 %, and the most of 72 such
    // counts is about 2.4 times that too large.
    experiment.until_s = 22e3;
    EXPECT_NEAR(0.9 * expected.load / run(experiment).busiest_load / expected.load, 1, 0.025);
    EXPECT_GT(delivered_share(small_dragonfly(expected.policy, expected.shift, 0.95 * expected.load)), 0.99);
    // 12 % too much: 1 / 1.12 = 0.89 arrives of what takes a full link; with a shift of h some packets take none.
    EXPECT_LT(delivered_share(small_dragonfly(expected.policy, expected.shift, 1.12 * expected.load)), 0.96);
}

// Loads of channels per group with a p = 8 terminals, L = 1 and g = 9 groups (Kim et al., ISCA 2008, section 4; Garcia
// et al., "On-the-fly adaptive routing in high-radix hierarchical networks", ICPP 2012, for shifts of h):
//   uniform, minimal: terminals' links; global ones would carry (a p)^2 / (N - 1) = 64 / 71
//   uniform, Valiant: 2 a p of a group's traffic over g - 1 links: 8 / 16
//   shift 1, minimal: a p on one link: 1 / 8
//   shift 1, Valiant: twice a p, over the g - 2 links that do not lead there: 7 / 16
//   shift h, Valiant: in a third group what comes from h groups by one switch leaves by the next one; the local link
//     between carries h a p / (g - 2) = 16 / 7, and p h / (g - 2) = 4 / 7 each of its own terminals' traffic out and
//     in: 7 / 24
INSTANTIATE_TEST_SUITE_P(Saturation, OfPattern,
                         testing::Values(Saturation{"uniform_minimal", Policy::kMinimal, 0, 1.0},
                                         Saturation{"uniform_valiant", Policy::kValiant, 0, 0.5},
                                         Saturation{"shift_1_minimal", Policy::kMinimal, 1, 1.0 / 8},
                                         Saturation{"shift_1_valiant", Policy::kValiant, 1, 7.0 / 16},
                                         Saturation{"shift_h_valiant", Policy::kValiant, 2, 7.0 / 24}),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(Saturation, of_1056_terminals) {
    // p, a, h, g = 4, 8, 4, 33: shift 1 minimal 1 / (a p) = 1 / 32. Shift h Valiant as above: h a p / (g - 2) + 2 p h /
    // (g - 2) = 128 / 31 + 32 / 31, so 31 / 160 = 0.1938.
    const auto delivered = [](Policy policy, int shift, double load) {
        Experiment experiment = small_dragonfly(policy, shift, load);
        experiment.shape = {.terminals = 4, .switches = 8, .ports = 4, .groups = 33, .links = 1};
        experiment.pattern = {.sending_groups = 33, .ranks = 32, .shift = shift};
        experiment.warm_s = 200;
        experiment.until_s = 1200;
        return delivered_share(experiment);
    };
    EXPECT_GT(delivered(Policy::kMinimal, 1, 0.93 / 32), 0.99);
    EXPECT_NEAR(delivered(Policy::kMinimal, 1, 1.25 / 32), 1 / 1.25, 0.01);
    EXPECT_GT(delivered(Policy::kValiant, 4, 0.93 * 31 / 160), 0.99);
    EXPECT_LT(delivered(Policy::kValiant, 4, 1.12 * 31 / 160), 0.96);
}

TEST(Adaptive, on_adversarial_traffic_lies_between_valiant_and_the_ideal_split) {
    // Shift 1: Valiant 7 / 16 = 0.4375; the ideal split loads all links of a group alike, L g / (2 a p) = 9 / 16 =
    // 0.5625.
    EXPECT_GT(delivered_share(small_dragonfly(Policy::kAdaptive, 1, 0.54)), 0.99);
    EXPECT_LT(delivered_share(small_dragonfly(Policy::kAdaptive, 1, 0.60)), 0.97);
    // Shift h: Valiant 0.2917; local links of third groups keep it from the ideal split.
    EXPECT_GT(delivered_share(small_dragonfly(Policy::kAdaptive, 2, 0.42)), 0.99);
    EXPECT_LT(delivered_share(small_dragonfly(Policy::kAdaptive, 2, 0.5625)), 0.97);
}

TEST(Adaptive, keeps_uniform_traffic_on_minimal_paths) {
    // At 0.7 a queue of load 0.62 (global) or 0.7 (terminal) rarely holds 5 packets, the bias. Valiant saturates at
    // 0.5.
    const Outcome adaptive = run(small_dragonfly(Policy::kAdaptive, 0, 0.7));
    const Outcome minimal = run(small_dragonfly(Policy::kMinimal, 0, 0.7));
    EXPECT_GT(adaptive.minimal_share, 0.97);
    EXPECT_NEAR(adaptive.delay_s / minimal.delay_s, 1, 0.1);
    EXPECT_GT(delivered_share(small_dragonfly(Policy::kAdaptive, 0, 0.9)), 0.99);
    EXPECT_LT(delivered_share(small_dragonfly(Policy::kValiant, 0, 0.7)), 0.9);
}

TEST(Adaptive, takes_a_third_switch_within_a_group) {
    // Four switches of a group, each sends T to the next over single links of C = 1. Detours take the 8 links that lead
    // two and three switches further, two of them each: 4 x 2 (T - C) <= 8 C, so T <= 2 C, and C / T of it goes
    // directly.
    Experiment experiment = small_dragonfly(Policy::kAdaptive, 0, 1.8 / 3);
    experiment.shape = {.terminals = 3, .switches = 4, .ports = 1, .groups = 1, .links = 1};
    experiment.pattern = {.sending_groups = 1, .ranks = 12, .shift = 0, .switch_shift = 1};
    const Outcome fits = run(experiment);
    EXPECT_NEAR(fits.rank_bytes_per_s / fits.sent_bytes_per_s, 1, 0.01);
    EXPECT_NEAR(fits.minimal_share, 1 / 1.8, 0.01);
    EXPECT_GT(fits.minimal_delay_s, 5);  // the bias
    experiment.transport.bytes_per_s = 2.2 / 3;
    EXPECT_LT(delivered_share(experiment), 0.96);
}

TEST(PacketNetwork, plays_the_same_packets_for_the_same_seed) {
    const Experiment experiment = small_dragonfly(Policy::kAdaptive, 1, 0.4);
    Experiment other = experiment;
    other.seed = 2;
    const Outcome first = run(experiment), again = run(experiment), differs = run(other);
    EXPECT_EQ(first.packets, again.packets);
    EXPECT_EQ(first.delay_s, again.delay_s);
    EXPECT_NE(first.delay_s, differs.delay_s);
}

}  // namespace
}  // namespace auspex::packets
