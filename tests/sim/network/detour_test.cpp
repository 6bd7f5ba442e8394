/// @file Detours by a third switch or group, and pinned uplinks: what patterns get, by the equations of the routing.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/json.hpp"
#include "network_fixture.hpp"
#include "sim/network/collective/flow_pattern.hpp"
#include "sim/network/collective/round_costs.hpp"

namespace auspex::network {
namespace {

using testing_network::layout_of;
using testing_network::mesh_machine;
using testing_network::plain_stack;
using testing_network::rail_machine;
using testing_network::small_dragonfly;
using testing_network::SmallDragonfly;

constexpr double kLink = 25e9;  // C
constexpr double kDelay = 10e-6, kLocalDelay = 3e-6, kWindow = 50e3, kRank = 10e9;

/// Four switches of 4 ranks, each joined to each by one link of 25 GB/s, as one group or as four.
models::Machine four_switches(bool groups, models::RoutingKind routing) {
    models::Machine machine = small_dragonfly(
        {.groups = groups ? 4 : 1, .switches = groups ? 1 : 4, .nodes_per_switch = 2, .routing = routing});
    machine.fabric.link_bytes_per_s = kLink;
    return machine;
}

struct Demand {
    int from, to;  ///< switches
    int flows;
};

/// A pattern of flows between switches of so many ranks, dealt over these.
struct Exchange {
    Exchange(const models::Machine& machine, const std::vector<Demand>& demands,
             const models::Stack& stack = fast_stack(), int ranks = 4)
        : fabric(machine, stack, layout_of(machine, {.dp = machine.fabric.max_nodes * machine.node.tiles})) {
        GroupSet pairs;
        for (const Demand& demand : demands) {
            for (int flow = 0; flow < demand.flows; ++flow) {
                pairs.ranks.push_back(demand.from * ranks + flow % ranks);
                pairs.ranks.push_back(demand.to * ranks + flow % ranks);
                pairs.begin.push_back(static_cast<std::uint32_t>(pairs.ranks.size()));
            }
        }
        pattern = PatternBuilder(fabric).build({models::GroupKind::kStage, 0, Level::kFlat, StepShape::kPairs, 0, 0},
                                               pairs, {});
    }

    static models::Stack fast_stack() {
        models::Stack stack = plain_stack();
        stack.rank_bytes_per_s = 100e9;
        return stack;
    }
    [[nodiscard]] double load_on(LinkKind kind) const {
        return std::accumulate(pattern.loads.begin(), pattern.loads.end(), 0.0, [&](double sum, const LinkLoad& on) {
            return sum + (fabric.kind(on.link) == kind ? on.load : 0);
        });
    }
    [[nodiscard]] LinkKind bottleneck() const { return fabric.kind(pattern.bottleneck); }

    Fabric fabric;
    FlowPattern pattern;
};

LinkKind pool_of(bool groups) { return groups ? LinkKind::kGlobalPool : LinkKind::kLocalPool; }
LinkKind pair_of(bool groups) { return groups ? LinkKind::kGlobal : LinkKind::kLocal; }

// Four switches that swap with a neighbour, T each: 4 (C + 2 (T - C)) = 12 C, T = 2 C. Valiant: 4 x 2 T = 12 C.
TEST(Detour, neighbours_that_swap_share_the_links_that_their_detours_take) {
    const std::vector<Demand> swap{{0, 1, 4}, {1, 0, 4}, {2, 3, 4}, {3, 2, 4}};
    for (const bool groups : {false, true}) {
        const Exchange adaptive(four_switches(groups, models::RoutingKind::kAdaptive), swap);
        EXPECT_NEAR(adaptive.pattern.solo_rate * 4, 2 * kLink, 1);
        EXPECT_EQ(adaptive.bottleneck(), pool_of(groups));
        const Exchange valiant(four_switches(groups, models::RoutingKind::kValiant), swap);
        EXPECT_NEAR(valiant.pattern.solo_rate * 4, 1.5 * kLink, 1);
        EXPECT_EQ(valiant.bottleneck(), pool_of(groups));
    }
}

// 13 flows of rate r, 4 each on three pairs and one on the fourth, which fits: 13 r + 3 (4 r - C) = 12 C, r = 0.6 C.
TEST(Detour, only_pairs_that_do_not_fit_on_their_direct_links_detour) {
    for (const bool groups : {false, true}) {
        const Exchange on(four_switches(groups, models::RoutingKind::kAdaptive),
                          {{0, 1, 4}, {1, 0, 4}, {2, 3, 4}, {3, 2, 1}});
        EXPECT_NEAR(on.pattern.solo_rate, 0.6 * kLink, 1);
        EXPECT_NEAR(on.load_on(pool_of(groups)), 12 * kLink / (0.6 * kLink), 1e-9);
    }
}

// Each switch sends 5 flows to one and 3 to another. Leaving it they could have r = 3 C / 8, at which both pairs
// detour. 32 r + 4 (5 r - C) + 4 (3 r - C) = 12 C would leave r = 0.3125 C, at which 3 r < C fit; 32 r + 4 (5 r - C) =
// 12 C leaves r = 16 C / 52.
TEST(Detour, pairs_that_fit_at_the_rate_of_the_pool_do_not_detour) {
    std::vector<Demand> demands;
    for (int s = 0; s < 4; ++s) {
        demands.push_back({s, s ^ 1, 5});
        demands.push_back({s, s ^ 2, 3});
    }
    for (const bool groups : {false, true}) {
        const Exchange on(four_switches(groups, models::RoutingKind::kAdaptive), demands);
        EXPECT_NEAR(on.pattern.solo_rate, 16 * kLink / 52, 1);
        EXPECT_EQ(on.bottleneck(), pool_of(groups));
        EXPECT_NEAR(on.load_on(pool_of(groups)), 12.0 * 52 / 16, 1e-9);
    }
}

// Two of four: T = 3 C leave a switch by its 3 links, and of 12 C both fill 2 (C + 2 x 2 C).
TEST(Detour, a_pair_alone_is_bounded_by_the_links_that_leave_it) {
    const std::vector<Demand> swap{{0, 1, 4}, {1, 0, 4}};
    for (const bool groups : {false, true}) {
        models::Machine machine = four_switches(groups, models::RoutingKind::kAdaptive);
        const Exchange wide(machine, swap);
        EXPECT_DOUBLE_EQ(wide.pattern.solo_rate * 4, 3 * kLink);
        EXPECT_DOUBLE_EQ(wide.load_on(pool_of(groups)) * wide.pattern.solo_rate, 2 * (1 + 2 * 2) * kLink);
    }
}

/// `flows` from the first switch or group to the second, of ranks that have a window of bytes on their way.
FlowPattern windowed(bool groups, int flows, double window_bytes = kWindow) {
    models::Machine machine = four_switches(groups, models::RoutingKind::kAdaptive);
    machine.fabric.detour_delay_s = kDelay;
    machine.fabric.local_detour_delay_s = kLocalDelay;
    machine.node.nic_bytes_per_s = kRank;
    models::Stack stack = plain_stack();
    stack.rank_window_bytes = window_bytes;
    return Exchange(machine, {{0, 1, flows}}, stack).pattern;
}

// A rank's window w takes w / b to send and d to be heard of where its packets wait: rate = 1 / (1 / b + d / w). The
// wait of a round ends with what its flows put on the direct links: n flows on C. It is bound by these links where d /
// w is more than 1 / b, else by what bound it without the wait: a rank's own rate.
TEST(Detour, windows_wait_for_direct_links_that_are_full) {
    for (const bool groups : {false, true}) {
        const int flows = groups ? 8 : 4;
        const FlowPattern full = windowed(groups, flows);
        EXPECT_DOUBLE_EQ(full.solo_rate, 1 / (1 / kRank + (groups ? kDelay : kLocalDelay) / kWindow));
        const auto level = static_cast<std::size_t>(groups ? DetourLevel::kGroups : DetourLevel::kSwitches);
        EXPECT_DOUBLE_EQ(full.waits[level].drain_s_per_byte, flows / kLink);
        EXPECT_EQ(full.waits[level].messages, 1);
        EXPECT_EQ(full.waits[1 - level].messages, 0);
    }
    // Of the wait to the sending of a window; with flows whose other bounds are not reached.
    for (const auto& [ratio, flows] : {std::pair(0.5, 4), std::pair(1.1, 6)}) {
        const FlowPattern one = windowed(true, flows, kDelay * kRank / ratio);
        EXPECT_DOUBLE_EQ(one.solo_rate, kRank / (1 + ratio));
        EXPECT_EQ(one.bottleneck == one.waits[static_cast<std::size_t>(DetourLevel::kGroups)].link, ratio > 1);
    }
}

// Ranks that want more than C, but would leave the direct links half empty if they waited d, wait until these are full:
// C / n each.
TEST(Detour, a_few_ranks_share_the_direct_links_and_wait_no_longer) {
    for (const int flows : {3, 4, 5}) {
        const double share = std::max(kLink / flows, 1 / (1 / kRank + kDelay / kWindow));
        const FlowPattern few = windowed(true, flows);
        EXPECT_DOUBLE_EQ(few.solo_rate, share) << flows;
        // Five leave the links to all other groups full, too.
        const std::uint32_t shared = few.waits[static_cast<std::size_t>(DetourLevel::kGroups)].link;
        EXPECT_EQ(few.bottleneck == shared, flows < 5) << flows;
    }
}

// M bytes on each of n flows at rate b into direct links C, of which each takes x = n/C - 1/b a byte too long:
//   M/b + min(d, M x),  with windows w:  M/b + max(min(d, M x), M min(d/w, x)).
// A ring's round waits as often as its edges cross. Nothing jumps with M, and what just fits waits for nothing.
TEST(Detour, a_message_waits_once_whether_its_round_or_its_windows_wait) {
    const int flows = 4;
    const double x = flows / kLink - 1 / kRank;
    for (const double window : {std::numeric_limits<double>::infinity(), kWindow}) {
        models::Machine machine = four_switches(true, models::RoutingKind::kAdaptive);
        machine.fabric.detour_delay_s = kDelay;
        machine.node.nic_bytes_per_s = kRank;
        models::Stack stack = plain_stack();
        stack.rank_window_bytes = window;
        const Exchange on(machine, {{0, 1, flows}}, stack);
        const RoundCosts costs(machine, stack, on.fabric);
        for (const double bytes : {1.0, 1e4, 4.9e4, 5.1e4, 1.6e5, 1.7e5, 1e7}) {
            CollectiveStep step{.shape = StepShape::kPairs, .bytes = bytes};
            const auto waits_s = [&](const FlowPattern& pattern) {
                const double message_s = costs.messages_s(schedule::CommKind::kSend, {2, 2, 1, 2, 1}, step, 1, pattern);
                return message_s - pattern.latency_s - stack.scale_out_message_s + bytes / pattern.solo_rate;
            };
            const double late_s = std::min(kDelay, bytes * x);
            const double expected_s = bytes / kRank + std::max(late_s, bytes * std::min(kDelay / window, x));
            EXPECT_NEAR(waits_s(on.pattern), expected_s, 1e-9 * expected_s) << bytes;
            FlowPattern ring = on.pattern;
            ring.waits[static_cast<std::size_t>(DetourLevel::kGroups)].share = 0.25;
            step.is_ring = true;
            const double in_rate_s = bytes / on.pattern.solo_rate;
            const double of_ring_s = std::max(in_rate_s, bytes / kRank + 0.25 * late_s);
            EXPECT_NEAR(waits_s(ring), of_ring_s, 1e-9 * of_ring_s) << bytes;
        }
    }
}

TEST(Detour, what_fits_on_direct_links_waits_for_nothing) {
    for (const bool groups : {false, true}) {
        const FlowPattern free = windowed(groups, 2);
        EXPECT_DOUBLE_EQ(free.solo_rate, kRank);
        for (const FlowPattern::Wait& wait : free.waits) {
            EXPECT_EQ(wait.drain_s_per_byte, 0);
        }
    }
}

// Valiant between one pair of n: over the links to the n - 2 others, T <= (n - 2) C.
TEST(Detour, valiant_routing_of_one_pair_has_the_links_to_all_others_but_not_its_own) {
    for (const bool groups : {false, true}) {
        models::Machine machine = four_switches(groups, models::RoutingKind::kValiant);
        const Exchange pair(machine, {{0, 1, 4}, {1, 0, 4}});
        EXPECT_DOUBLE_EQ(pair.pattern.solo_rate * 4, 2 * kLink);
        EXPECT_EQ(pair.bottleneck(), pair_of(groups));
        EXPECT_DOUBLE_EQ(pair.load_on(pool_of(groups)), 2 * pair.pattern.flows);
        machine.fabric.local_links = machine.fabric.global_links = 2;
        const Exchange doubled(machine, {{0, 1, 4}, {1, 0, 4}});
        EXPECT_DOUBLE_EQ(doubled.pattern.solo_rate * 4, 4 * kLink);
    }
}

// With two switches there is no third: both routings are minimal between them, C, 2 switches on the way.
TEST(Detour, two_switches_of_a_group_have_their_direct_link_alone) {
    for (const models::RoutingKind routing :
         {models::RoutingKind::kMinimal, models::RoutingKind::kValiant, models::RoutingKind::kAdaptive}) {
        models::Machine machine =
            small_dragonfly({.groups = 1, .switches = 2, .nodes_per_switch = 2, .routing = routing});
        machine.fabric.link_bytes_per_s = kLink;
        const Exchange swap(machine, {{0, 1, 4}, {1, 0, 4}});
        EXPECT_DOUBLE_EQ(swap.pattern.solo_rate * 4, kLink);
        EXPECT_NEAR(swap.fabric.route(0, 4).latency_s, 2e-6 + 2 * 0.5e-6, 1e-15);
    }
}

TEST(Detour, two_groups_have_no_third_for_valiant_routing) {
    JsonDocument document = JsonDocument::load("machines/aurora.json");
    document.set("fabric.routing", "valiant");
    EXPECT_EQ(models::load_machine(document).fabric.routing, models::RoutingKind::kValiant);
    document.set("fabric.groups", "2");
    document.set("fabric.max_nodes", "128");
    try {
        static_cast<void>(models::load_machine(document));
        FAIL() << "accepted";
    } catch (const InputError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("$.fabric.routing"), std::string::npos) << message;
        EXPECT_NE(message.find("where groups is 2"), std::string::npos) << message;
    }
    document.set("fabric.routing", "adaptive");
    EXPECT_NO_THROW(static_cast<void>(models::load_machine(document)));
    document.set("fabric.routing", "valiant");
    document.set("fabric.groups", "1");
    document.set("fabric.max_nodes", "64");
    EXPECT_NO_THROW(static_cast<void>(models::load_machine(document)));
}

/// What a switch of four sends to the three others in an all-to-all over all ranks.
double all_to_all_bytes_per_s(const models::Machine& machine) {
    const models::Layout layout = layout_of(machine, {.dp = machine.fabric.max_nodes * machine.node.tiles});
    const Fabric fabric(machine, Exchange::fast_stack(), layout);
    const GroupSet all = flatten(groups_of(layout, models::GroupKind::kStage, 0));
    const PatternKey key{models::GroupKind::kStage, 0, Level::kFlat, StepShape::kAllPairs, 0};
    return 4 * 12 * PatternBuilder(fabric).build(key, all, {}).solo_rate;
}

// All links are used: T = 3 C. Valiant: each of 4 T counts twice against 12 C, T = 3 C / 2 = (groups - 1) C / 2.
TEST(Detour, a_uniform_exchange_fills_all_links_and_valiant_routing_gets_half_of_them) {
    for (const bool groups : {false, true}) {
        EXPECT_NEAR(all_to_all_bytes_per_s(four_switches(groups, models::RoutingKind::kMinimal)), 3 * kLink, 1);
        EXPECT_NEAR(all_to_all_bytes_per_s(four_switches(groups, models::RoutingKind::kAdaptive)), 3 * kLink, 1);
        EXPECT_NEAR(all_to_all_bytes_per_s(four_switches(groups, models::RoutingKind::kValiant)), 1.5 * kLink, 1);
    }
}

// One global link on each of four switches: from three of four a local link leads there, at both ends. Minimal routing
// takes the very links; the pools of the two groups count their mean.
TEST(Detour, the_way_to_another_group_counts_on_the_local_pools_of_both_ends_as_minimal_routing_has_it) {
    const SmallDragonfly shape{.groups = 5, .switches = 4};
    models::Machine machine = small_dragonfly(shape);
    const models::Layout layout = layout_of(machine, {.dp = 20 * 2});
    const Fabric minimal(machine, plain_stack(), layout);
    for (const models::RoutingKind routing : {models::RoutingKind::kValiant, models::RoutingKind::kAdaptive}) {
        machine.fabric.routing = routing;
        const Fabric spread(machine, plain_stack(), layout);
        std::map<LinkKind, double> direct, pooled;
        for (int from = 0; from < 4; ++from) {
            for (int to = 12; to < 16; ++to) {
                for (const Leg& leg : minimal.route(2 * from, 2 * to).legs) {
                    direct[minimal.kind(leg.link)] += leg.weight / 16;
                }
                for (const Leg& leg : spread.route(2 * from, 2 * to).legs) {
                    pooled[spread.kind(leg.link)] += leg.weight / 16;
                    if (spread.kind(leg.link) == LinkKind::kLocalPool) {
                        EXPECT_DOUBLE_EQ(spread.capacity_bytes_per_s(leg.link), 4 * 3 * 50e9);
                    }
                }
            }
        }
        EXPECT_DOUBLE_EQ(direct[LinkKind::kLocal], 1.5);
        EXPECT_DOUBLE_EQ(pooled[LinkKind::kLocalPool], 1.5);
        EXPECT_EQ(pooled.count(LinkKind::kLocal), 0U);
    }
}

/// Units of 4 nodes of 8 NICs, 2 uplinks a leaf; pods of 2 units, 2 spines of 8 links to the cores.
models::Machine three_level_rails(models::RoutingKind routing) {
    models::Machine machine = rail_machine();
    machine.fabric.levels = 3;
    machine.fabric.leaves_per_pod = 2;
    machine.fabric.pod_taper = 0.5;
    machine.fabric.max_nodes = 32;
    machine.fabric.routing = routing;
    return machine;
}

// Each pod has 8 nodes x 8 NICs over 16 uplinks: as even as one bundle of them.
TEST(Detour, pinned_uplinks_of_rails_carry_a_uniform_exchange_as_evenly_as_a_bundle) {
    std::map<models::RoutingKind, double> rates;
    for (const models::RoutingKind routing : {models::RoutingKind::kMinimal, models::RoutingKind::kAdaptive}) {
        const models::Machine machine = three_level_rails(routing);
        const models::Layout layout = layout_of(machine, {.dp = 256});
        const Fabric fabric(machine, Exchange::fast_stack(), layout);
        const GroupSet all = flatten(groups_of(layout, models::GroupKind::kStage, 0));
        const PatternKey key{models::GroupKind::kStage, 0, Level::kFlat, StepShape::kAllPairs, 0};
        const FlowPattern pattern = PatternBuilder(fabric).build(key, all, {});
        rates[routing] = pattern.solo_rate;
        EXPECT_EQ(fabric.kind(pattern.bottleneck), LinkKind::kPodUplink);
    }
    // 64 senders of a pod x 192 elsewhere over 2 units x 8 rails x 100 GB/s x 0.5.
    EXPECT_NEAR(rates[models::RoutingKind::kAdaptive], 800e9 / (64 * 192), 1);
    EXPECT_NEAR(rates[models::RoutingKind::kMinimal] / rates[models::RoutingKind::kAdaptive], 1, 1e-12);
}

// U = 2 uplinks of a leaf: uplink u ends at spine u, and so must the pod uplink: its number mod U is u.
TEST(Detour, pinned_uplinks_of_rails_meet_at_one_spine) {
    const models::Machine machine = three_level_rails(models::RoutingKind::kMinimal);
    const Fabric fabric(machine, plain_stack(), layout_of(machine, {.dp = 256}));
    const auto number = [&](std::uint32_t link) {
        const std::string name = fabric.name(link), word = "uplink ";
        return std::stoi(name.substr(name.find(word) + word.size()));
    };
    std::map<int, int> flows;  // by pod uplink
    for (int to = 64; to < 128; ++to) {
        const Route route = fabric.route(3, to);
        std::map<LinkKind, std::vector<int>> taken;
        for (const Leg& leg : route.legs) {
            if (fabric.kind(leg.link) == LinkKind::kLeafUplink || fabric.kind(leg.link) == LinkKind::kPodUplink) {
                taken[fabric.kind(leg.link)].push_back(number(leg.link));
            }
        }
        const std::vector<int>&leaf = taken[LinkKind::kLeafUplink], &pod = taken[LinkKind::kPodUplink];
        ASSERT_EQ(leaf, (std::vector<int>{to / 8 % 2, to / 8 % 2}));
        ASSERT_EQ(pod.size(), 2U);
        EXPECT_EQ(pod[0], pod[1]);
        EXPECT_EQ(pod[0] % 2, leaf[0]);
        ++flows[pod[0]];
    }
    EXPECT_EQ(flows.size(), 16U);  // 64 NICs of a pod, four on each
    for (const auto& [uplink, count] : flows) {
        EXPECT_EQ(count, 4) << uplink;
    }
}

}  // namespace
}  // namespace auspex::network
