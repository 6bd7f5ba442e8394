/// @file Rates of transfers that come and go equal those of all that are active, solved from scratch.
#include "sim/network/sharing/link_sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/rng.hpp"

namespace auspex::network {
namespace {

struct Candidate {
    std::vector<LinkLoad> loads;
    double solo_rate = std::numeric_limits<double>::infinity();
};

void add_load(Candidate& candidate, std::uint32_t link, double load, double capacity) {
    candidate.loads.push_back({link, load});
    candidate.solo_rate = std::min(candidate.solo_rate, capacity / load);
}

/// Transfers on up to 3 of a few links, whole loads.
std::vector<Candidate> candidates(Rng& rng, const std::vector<double>& capacities) {
    std::vector<Candidate> made(40);
    for (Candidate& candidate : made) {
        const std::size_t first = rng.below(capacities.size()), count = 1 + rng.below(3);
        for (std::size_t i = 0; i < count; ++i) {
            const auto link = static_cast<std::uint32_t>((first + i * 7) % capacities.size());
            add_load(candidate, link, static_cast<double>(1 + rng.below(3)), capacities[link]);
        }
    }
    return made;
}

/// Rates of all that are active, solved at once.
std::vector<double> full_solution(const std::vector<double>& capacities,
                                  const std::vector<std::pair<LinkSharing::Id, const Candidate*>>& active) {
    std::vector<LoadList> classes;
    for (const auto& [id, candidate] : active) {
        classes.emplace_back(candidate->loads);
    }
    return max_min_rates(capacities, classes);
}

// 400 random starts and stops on 23 links: after each the rates are those of max_min_rates over all active, and whoever
// is not reported as changed has kept its rate.
TEST(LinkSharing, rates_after_every_change_equal_the_full_solution) {
    Rng rng(3);
    for (int trial = 0; trial < 20; ++trial) {
        std::vector<double> capacities;
        for (int l = 0; l < 23; ++l) {
            capacities.push_back(static_cast<double>(1 + rng.below(40)));
        }
        const std::vector<Candidate> all = candidates(rng, capacities);
        LinkSharing sharing(capacities);
        std::vector<std::pair<LinkSharing::Id, const Candidate*>> active;
        std::vector<double> known(all.size() + 1, 0);
        for (int change = 0; change < 400; ++change) {
            if (!active.empty() && (active.size() > 25 || rng.below(2) == 0)) {
                const std::size_t gone = rng.below(active.size());
                sharing.stop(active[gone].first);
                active.erase(active.begin() + static_cast<std::ptrdiff_t>(gone));
            } else {
                const Candidate& chosen = all[rng.below(all.size())];
                active.emplace_back(sharing.start({chosen.loads, chosen.solo_rate}), &chosen);
            }
            for (const LinkSharing::Id id : sharing.update_rates()) {
                known[id] = sharing.rate(id);
            }
            const std::vector<double> full = full_solution(capacities, active);
            for (std::size_t i = 0; i < active.size(); ++i) {
                ASSERT_NEAR(sharing.rate(active[i].first), full[i], 1e-12 * full[i])
                    << "trial " << trial << " change " << change;
                ASSERT_EQ(known[active[i].first], sharing.rate(active[i].first));
            }
        }
    }
}

/// Rings over all of 30 nodes of 3 links each, and transfers in a node and between two: whole loads.
std::vector<Candidate> rings_and_locals(Rng& rng, const std::vector<double>& capacities) {
    std::vector<Candidate> made(60);
    for (std::size_t i = 0; i < made.size(); ++i) {
        const auto node = static_cast<std::uint32_t>(rng.below(30));
        for (std::uint32_t l = 0; l < 90; ++l) {
            const bool of_ring = i < 4 && l % 3 != i % 3;
            const bool of_local = i >= 4 && (l / 3 == node || (i % 4 == 0 && l / 3 == (node + 1) % 30 && l % 3 == 0));
            if (of_ring || (of_local && rng.below(3) != 0)) {
                add_load(made[i], l, static_cast<double>(1 + rng.below(4)), capacities[l]);
            }
        }
        if (made[i].loads.empty()) {
            add_load(made[i], 3 * node, 1, capacities[3 * node]);
        }
    }
    return made;
}

// Several starts and stops at a time, of transfers that reach few links and of some that reach most: the rates are
// those of all that are active. Levels are often equal: capacities are one of three.
TEST(LinkSharing, rates_of_rings_over_all_nodes_beside_local_transfers_equal_the_full_solution) {
    Rng rng(11);
    for (int trial = 0; trial < 60; ++trial) {
        std::vector<double> capacities;
        for (int l = 0; l < 90; ++l) {
            capacities.push_back(10.0 * static_cast<double>(1 + rng.below(3)) / (trial % 2 == 0 ? 1 : 7));
        }
        const std::vector<Candidate> all = rings_and_locals(rng, capacities);
        LinkSharing sharing(capacities);
        std::vector<std::pair<LinkSharing::Id, const Candidate*>> active;
        std::vector<double> known(all.size() + 1, 0);
        for (int change = 0; change < 200; ++change) {
            for (std::size_t i = 0, count = 1 + rng.below(4); i < count; ++i) {
                if (!active.empty() && (active.size() > 40 || rng.below(2) == 0)) {
                    const std::size_t gone = rng.below(active.size());
                    sharing.stop(active[gone].first);
                    active.erase(active.begin() + static_cast<std::ptrdiff_t>(gone));
                } else {
                    const Candidate& chosen = all[rng.below(all.size())];
                    active.emplace_back(sharing.start({chosen.loads, chosen.solo_rate}), &chosen);
                }
            }
            for (const LinkSharing::Id id : sharing.update_rates()) {
                known[id] = sharing.rate(id);
            }
            const std::vector<double> full = full_solution(capacities, active);
            for (std::size_t i = 0; i < active.size(); ++i) {
                ASSERT_NEAR(sharing.rate(active[i].first), full[i], 1e-12 * full[i])
                    << "trial " << trial << " change " << change;
                ASSERT_EQ(known[active[i].first], sharing.rate(active[i].first));
            }
        }
    }
}

// A ring over 1,000 nodes has its share of node 0 beside a local transfer: 10 / (1 + 4). What
// comes and goes on the other nodes gets the rest there and leaves the ring alone; the ring moves with node 0.
TEST(LinkSharing, a_change_that_leaves_a_ring_its_bottleneck_does_not_solve_the_ring) {
    const std::vector<double> capacities(1000, 10);
    LinkSharing sharing(capacities);
    std::vector<LinkLoad> everywhere;
    for (std::uint32_t node = 0; node < 1000; ++node) {
        everywhere.push_back({node, 1});
    }
    const LinkSharing::Id ring = sharing.start({everywhere, 10});
    const std::vector<LinkLoad> first{{0, 4}};
    const LinkSharing::Id local = sharing.start({first, 2.5});
    (void)sharing.update_rates();
    EXPECT_EQ(sharing.rate(ring), 2);
    const std::uint64_t before = sharing.solved();
    for (std::uint32_t node = 1; node < 1000; ++node) {
        const std::vector<LinkLoad> here{{node, 1}};
        const LinkSharing::Id id = sharing.start({here, 10});
        ASSERT_EQ(sharing.update_rates().size(), 1U);
        EXPECT_EQ(sharing.rate(id), 8);
        sharing.stop(id);
        EXPECT_TRUE(sharing.update_rates().empty());
    }
    EXPECT_EQ(sharing.rate(ring), 2);
    EXPECT_LE(sharing.solved() - before, 2 * 999U);  // the local transfer, and the ring held
    sharing.stop(local);
    EXPECT_EQ(sharing.update_rates().size(), 1U);
    EXPECT_EQ(sharing.rate(ring), 10);
}

// 1,000 pairs, each on a wire of its own, and all on a backbone that could carry them all: a newcomer solves itself.
TEST(LinkSharing, a_change_does_not_reach_beyond_links_that_can_fill) {
    std::vector<double> capacities(1001, 1);
    capacities[1000] = 2000;
    LinkSharing sharing(capacities);
    std::vector<std::vector<LinkLoad>> loads;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        loads.push_back({{i, 1}, {1000, 1}});
    }
    for (const std::vector<LinkLoad>& one : loads) {
        const LinkSharing::Id id = sharing.start({one, 1});
        ASSERT_EQ(sharing.update_rates().size(), 1U);
        EXPECT_EQ(sharing.rate(id), 1);
    }
    EXPECT_EQ(sharing.solved(), 1000U);
    // A rival on one wire halves that pair and nobody else.
    const LinkSharing::Id rival = sharing.start({loads[7], 1});
    EXPECT_EQ(sharing.update_rates().size(), 2U);
    EXPECT_EQ(sharing.rate(rival), 0.5);
}

}  // namespace
}  // namespace auspex::network
