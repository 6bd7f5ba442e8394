/// @file Groups by rule on blocks that are alike against the same groups rank by rank.
#include "sim/network/collective/regular_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "base/rng.hpp"
#include "network_fixture.hpp"
#include "sim/network/collective/network.hpp"

namespace auspex::network {
namespace {

using namespace testing_network;
using models::GroupKind;

constexpr StepShape kShapes[] = {StepShape::kShift,  StepShape::kXor,    StepShape::kAllPairs, StepShape::kToHost,
                                 StepShape::kFoldIn, StepShape::kInHost, StepShape::kTreesUp};
constexpr GroupKind kKinds[] = {GroupKind::kTp,         GroupKind::kCp,           GroupKind::kEp,
                                GroupKind::kEtp,        GroupKind::kExpertDp,     GroupKind::kDenseDp,
                                GroupKind::kStage,      GroupKind::kDenseDpOuter, GroupKind::kDenseDpInner,
                                GroupKind::kWorld,      GroupKind::kNextStage,    GroupKind::kPreviousStage,
                                GroupKind::kMirrorStage};
constexpr Level kLevels[] = {Level::kFlat, Level::kIntraNode, Level::kInterNode, Level::kIntraBlock,
                             Level::kInterBlock};

template <class T, std::size_t n>
T one_of(Rng& rng, const T (&choices)[n]) {
    return choices[rng.below(n)];
}

int divisor(Rng& rng, int n) {
    std::vector<int> divisors;
    for (int d = 1; d <= n; ++d) {
        if (n % d == 0) {
            divisors.push_back(d);
        }
    }
    return divisors[rng.below(divisors.size())];
}

/// Of n members: powers of two, as doubling has them, and others that carry over nodes and blocks, as each to each has.
std::vector<int> distances_of(int n) {
    std::vector<int> distances{1};
    for (int distance = 2; distance < power_of_two_within(n); distance *= 2) {
        distances.push_back(distance);
    }
    for (const int distance : {3, 5, 7, 11, n / 2 + 1, n - 1}) {
        if (distance > 2 && distance < n) {
            distances.push_back(distance);
        }
    }
    return distances;
}

struct Job {
    models::Machine machine;
    models::Layout layout;
};

/// Fills whole groups of a dragonfly, one after the other.
Job whole_groups(std::uint64_t seed) {
    Rng rng(seed);
    SmallDragonfly shape;
    shape.groups = 9;
    shape.switches = one_of(rng, {1, 2, 4, 8});
    shape.nodes_per_switch = one_of(rng, {1, 2, 3});
    shape.routing = one_of(rng, {models::RoutingKind::kAdaptive, models::RoutingKind::kValiant});
    Job job;
    job.machine = small_dragonfly(shape);
    if (rng.below(2) == 0) {
        job.machine.node = mesh_machine().node;
    } else {
        job.machine.node.tiles = job.machine.node.nics = one_of(rng, {1, 2, 4});
    }
    job.machine.tile.hbm_bytes_per_s = 1e12;
    job.machine.tile.memory_efficiency = 1;
    job.machine.fabric.detour_delay_s = one_of(rng, {0.0, 2e-6, 10e-6});
    job.machine.fabric.local_detour_delay_s = one_of(rng, {0.0, 1e-6});
    const int blocks = one_of(rng, {1, 2, 3, 4, 8});
    const int tiles = blocks * job.machine.fabric.nodes_per_group * job.machine.node.tiles;
    models::Plan plan;
    plan.etp = divisor(rng, job.machine.node.tiles);
    plan.ep = divisor(rng, tiles / plan.etp);
    plan.pp = divisor(rng, tiles / plan.etp / plan.ep);
    plan.dp = tiles / plan.etp / plan.ep / plan.pp;
    plan.tp = divisor(rng, std::min(plan.etp * plan.ep, 8));
    plan.tp = tiles / plan.pp % plan.tp == 0 ? plan.tp : 1;
    plan.cp = divisor(rng, tiles / plan.pp / plan.tp);
    if (rng.below(2) == 0) {
        std::shuffle(plan.rank_order.begin(), plan.rank_order.end(), std::minstd_rand(rng.below(1000)));
    }
    job.layout = make_layout(plan, job.machine, tiles);
    return job;
}

GroupSet listed(const RegularGroups& groups) {
    constexpr int kUp = std::numeric_limits<int>::max();
    GroupSet set;
    for (const int place : sums_of(groups.groups, 0, kUp)) {
        for (const int member : sums_of(groups.members, 0, kUp)) {
            set.ranks.push_back(groups.first + place + member);
        }
        set.begin.push_back(static_cast<std::uint32_t>(set.ranks.size()));
    }
    return set;
}

void expect_equal(const FlowPattern& by_rule, const FlowPattern& by_rank) {
    EXPECT_EQ(by_rule.solo_rate, by_rank.solo_rate);
    EXPECT_EQ(by_rule.latency_s, by_rank.latency_s);
    EXPECT_EQ(by_rule.flows, by_rank.flows);
    EXPECT_EQ(by_rule.ranks, by_rank.ranks);
    EXPECT_EQ(by_rule.messages, by_rank.messages);
    EXPECT_EQ(by_rule.node_ranks, by_rank.node_ranks);
    EXPECT_EQ(by_rule.waits, by_rank.waits);
    EXPECT_EQ(by_rule.leaves_node, by_rank.leaves_node);
    EXPECT_EQ(by_rule.stays_in_node, by_rank.stays_in_node);
    const PatternLoads all = by_rule.loads.of_all_blocks();
    EXPECT_TRUE(std::equal(all.begin(), all.end(), by_rank.loads.begin(), by_rank.loads.end(),
                           [](const LinkLoad& a, const LinkLoad& b) { return a.link == b.link && a.load == b.load; }));
    if (by_rule.key.group != GroupKind::kWorld) {
        EXPECT_EQ(by_rule.bottleneck, by_rank.bottleneck);
    }
}

bool are_pairs(const models::Layout& layout, GroupKind kind) {
    return are_pairs(kind) && group_size(layout, kind) == 2;
}

bool can_split(const GroupForm& form, Level level) {
    return level == Level::kFlat || level == Level::kIntraNode ||
           (level == Level::kInterBlock ? form.per_block > 0 : form.per_node > 0);
}

// Digits of a family, listed = group_ranks; digits cut by level, listed = subgroups; form by digits = form by ranks.
TEST(RegularGroups, are_the_groups_rank_by_rank) {
    int regular = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Job job = whole_groups(seed);
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Fabric fabric(job.machine, plain_stack(), job.layout);
        const RankPlaces at = rank_places(fabric);
        ASSERT_GT(at.blocks, 0);
        for (const GroupKind kind : kKinds) {
            const int stage = job.layout.pp - 1;
            const std::optional<models::RankFamily> family = rank_family(job.layout, kind, stage);
            const GroupSet whole = equal_groups(group_ranks(job.layout, kind, stage), group_size(job.layout, kind));
            const bool pairs = are_pairs(job.layout, kind);
            const std::optional<RegularGroups> groups = family ? regular_groups(*family, pairs, at) : std::nullopt;
            if (family) {
                EXPECT_EQ(listed({family->first, family->groups, family->members}), whole);
            }
            if (!groups) {
                continue;
            }
            ++regular;
            EXPECT_EQ(listed(*groups), whole);
            EXPECT_EQ(groups->count(), whole.count());
            if (const std::optional<GroupForm> form = form_of_regular(*groups, pairs, at)) {
                EXPECT_EQ(*form, pairs ? form_of_pairs(whole, fabric) : form_of(whole, fabric));
            }
            for (const Level level : kLevels) {
                if (!pairs && can_split(form_of(whole, fabric), level)) {
                    EXPECT_EQ(listed(regular_subgroups(*groups, level, at)), subgroups(whole, level, fabric));
                }
            }
        }
    }
    EXPECT_GT(regular, 1000);
}

/// Calls check(fabric, key, groups by rule) for all patterns of random jobs that can be built by rule.
template <class Check>
void for_regular_patterns(std::uint64_t jobs, Check&& check) {
    for (std::uint64_t seed = 0; seed < jobs; ++seed) {
        const Job job = whole_groups(seed);
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Fabric fabric(job.machine, plain_stack(), job.layout);
        const RankPlaces at = rank_places(fabric);
        const PatternBuilder judge(fabric);
        for (const GroupKind kind : kKinds) {
            const bool pairs = are_pairs(job.layout, kind);
            const std::optional<models::RankFamily> family = rank_family(job.layout, kind, 0);
            const std::optional<RegularGroups> whole = family ? regular_groups(*family, pairs, at) : std::nullopt;
            for (const Level level : kLevels) {
                if (!whole || whole->group_size() < 2 || (pairs && level != Level::kFlat)) {
                    continue;
                }
                const RegularGroups groups = pairs ? *whole : regular_subgroups(*whole, level, at);
                const int n = static_cast<int>(groups.group_size());
                for (const StepShape shape : kShapes) {
                    const StepShape taken = pairs && !is_host_work(shape) ? StepShape::kPairs : shape;
                    for (const int distance : distances_of(n)) {
                        const PatternKey key{kind, 0, level, taken, distance};
                        const bool is_step = taken != StepShape::kXor || distance < power_of_two_within(n);
                        if (is_step && judge.can_build(key, groups)) {
                            SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + " level " +
                                         std::to_string(static_cast<int>(level)) + " shape " +
                                         std::to_string(static_cast<int>(taken)) + " distance " +
                                         std::to_string(distance));
                            check(fabric, key, groups);
                        }
                    }
                }
            }
        }
    }
}

// Loads, rate, the link that bounds it, latency and counts by the flows of one block = those by all flows, to the bit.
TEST(RegularGroups, a_pattern_of_one_block_is_that_of_all) {
    int patterns = 0;
    for_regular_patterns(60, [&](const Fabric& fabric, const PatternKey& key, const RegularGroups& groups) {
        PatternBuilder by_rule(fabric), by_rank(fabric);
        expect_equal(by_rule.build(key, groups), by_rank.build(key, listed(groups), {}));
        ++patterns;
    });
    EXPECT_GT(patterns, 1000);
}

// Rates of patterns beside each other, and who can slow whom, by one block = by all links.
TEST(RegularGroups, patterns_share_links_as_those_rank_by_rank_do) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const Job job = whole_groups(seed);
        SCOPED_TRACE("seed " + std::to_string(seed));
        const models::Stack stack = plain_stack(models::CollectiveAlgorithm::kAuto, 0);
        Network by_rule(job.machine, stack, job.layout), by_rank(job.machine, stack, job.layout);
        by_rank.list_all_links();
        for (Network* const network : {&by_rule, &by_rank}) {
            for (const GroupKind kind : {GroupKind::kEp, GroupKind::kExpertDp, GroupKind::kDenseDp}) {
                (void)network->unroll(schedule::CommKind::kAllReduce, kind, 0, 1e6);
                (void)network->unroll(schedule::CommKind::kAllToAll, kind, 0, 1e6);
            }
            if (job.layout.pp > 1) {
                (void)network->unroll(schedule::CommKind::kSend, GroupKind::kNextStage, 0, 1e6);
            }
        }
        ASSERT_EQ(by_rule.pattern_count(), by_rank.pattern_count());
        std::vector<PatternId> all;
        for (PatternId a = 0; a < by_rule.pattern_count(); ++a) {
            EXPECT_EQ(by_rule.solo_rate(a), by_rank.solo_rate(a));
            for (PatternId b = 0; b < a; ++b) {
                EXPECT_EQ(by_rule.can_slow(a, b), by_rank.can_slow(a, b));
                const std::array both{a, b};
                const std::span<const double> rates = by_rule.rates(both), listed_rates = by_rank.rates(both);
                EXPECT_TRUE(std::equal(rates.begin(), rates.end(), listed_rates.begin(), listed_rates.end()));
            }
            all.push_back(a);
        }
        const std::span<const double> rates = by_rule.rates(all), listed_rates = by_rank.rates(all);
        EXPECT_TRUE(std::equal(rates.begin(), rates.end(), listed_rates.begin(), listed_rates.end()));
    }
}

}  // namespace
}  // namespace auspex::network
