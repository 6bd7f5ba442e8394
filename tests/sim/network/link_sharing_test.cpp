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

/// Transfers on up to 3 of a few links, whole loads.
std::vector<Candidate> candidates(Rng& rng, const std::vector<double>& capacities) {
    std::vector<Candidate> made(40);
    for (Candidate& candidate : made) {
        const std::size_t first = rng.below(capacities.size()), count = 1 + rng.below(3);
        for (std::size_t i = 0; i < count; ++i) {
            const auto link = static_cast<std::uint32_t>((first + i * 7) % capacities.size());
            candidate.loads.push_back({link, static_cast<double>(1 + rng.below(3))});
            candidate.solo_rate = std::min(candidate.solo_rate, capacities[link] / candidate.loads.back().load);
        }
    }
    return made;
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
            std::vector<LoadList> classes;
            for (const auto& [id, candidate] : active) {
                classes.emplace_back(candidate->loads);
            }
            const std::vector<double> full = max_min_rates(capacities, classes);
            for (std::size_t i = 0; i < active.size(); ++i) {
                ASSERT_NEAR(sharing.rate(active[i].first), full[i], 1e-12 * full[i])
                    << "trial " << trial << " change " << change;
                ASSERT_EQ(known[active[i].first], sharing.rate(active[i].first));
            }
        }
    }
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
