/// @file What every rank ends up with, and the bytes that it sends for it against their closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "collective_closed_form.hpp"
#include "collective_replay.hpp"
#include "sim/network/collective/collective_phases.hpp"

namespace auspex::network {
namespace {

using namespace testing_collectives;

void expect_right_data(schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
    SCOPED_TRACE(name_of(comm, choice, form));
    const CollectivePhases phases = phases_of(comm, choice, form, kBytes, {});
    ASSERT_EQ(phases.choice, choice);
    Replay replay(comm, choice, form, kBytes);
    replay.play(phases.steps);
    ASSERT_EQ(replay.problems, std::vector<std::string>());
    std::set<int> scattered;
    for (int rank = 0; rank < form.ranks; ++rank) {
        const std::vector<int> complete = replay.complete(rank);
        const auto all = static_cast<std::size_t>(replay.chunks());
        if (comm == schedule::CommKind::kAllToAll) {
            ASSERT_EQ(replay.items(rank).size(), static_cast<std::size_t>(form.ranks));
            for (const auto& [from, to] : replay.items(rank)) {
                ASSERT_EQ(to, rank);
            }
        } else if (comm == schedule::CommKind::kReduceScatter) {
            const std::size_t block = all / static_cast<std::size_t>(form.ranks);
            ASSERT_EQ(complete.size(), block);
            scattered.insert(complete.begin(), complete.end());
            if (choice.levels == 1) {
                ASSERT_EQ(complete.front(), rank * static_cast<int>(block)) << "block r is rank r's";
                ASSERT_EQ(complete.back(), (rank + 1) * static_cast<int>(block) - 1);
            }
        } else {
            ASSERT_EQ(complete.size(), all) << "rank " << rank;
        }
    }
    if (comm == schedule::CommKind::kReduceScatter) {
        EXPECT_EQ(scattered.size(), static_cast<std::size_t>(replay.chunks()));
    }
}

TEST(Collective, every_algorithm_brings_every_rank_its_data_on_2_to_33_ranks) {
    for (int n = 2; n <= 33; ++n) {
        for (const schedule::CommKind comm : kCollectives) {
            const std::vector<AlgorithmChoice> choices = candidates(comm, flat_form(n), 1);
            EXPECT_GE(choices.size(), 2U);
            for (const AlgorithmChoice choice : choices) {
                expect_right_data(comm, choice, flat_form(n));
            }
        }
    }
}

TEST(Collective, every_algorithm_brings_every_rank_its_data_over_two_and_three_levels) {
    const std::array forms{GroupForm{24, 6, 4, 2, 3},  GroupForm{60, 20, 3, 5, 4}, GroupForm{32, 8, 4, 4, 2},
                           GroupForm{36, 3, 12, 1, 3}, GroupForm{12, 12, 1, 4, 3}, GroupForm{30, 15, 2, 5, 3}};
    std::size_t over_three = 0;
    for (const GroupForm& form : forms) {
        for (const schedule::CommKind comm : kCollectives) {
            for (const AlgorithmChoice choice : candidates(comm, form, 0)) {
                expect_right_data(comm, choice, form);
                over_three += choice.levels == 3 ? 1 : 0;
            }
        }
    }
    EXPECT_GT(over_three, 50U);
}

double mean_sent(schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
    Replay replay(comm, choice, form, kBytes);
    replay.play(phases_of(comm, choice, form, kBytes, {}).steps);
    double sum = 0;
    for (const double sent : replay.sent) {
        sum += sent;
    }
    return sum / form.ranks;
}

TEST(Collective, several_rings_bring_every_rank_its_data_and_send_what_one_ring_sends) {
    for (const GroupForm& form : {GroupForm{4, 2, 2, 1, 2}, GroupForm{6, 3, 2, 1, 3}, GroupForm{12, 3, 4, 1, 3},
                                  GroupForm{16, 2, 8, 1, 2}, GroupForm{40, 5, 8, 1, 5}, GroupForm{36, 3, 12, 1, 3}}) {
        for (const schedule::CommKind comm :
             {schedule::CommKind::kAllReduce, schedule::CommKind::kReduceScatter, schedule::CommKind::kAllGather}) {
            expect_right_data(comm, {Algorithm::kMultiRing, 1}, form);
            EXPECT_NEAR(mean_sent(comm, {Algorithm::kMultiRing, 1}, form),
                        share_sent(comm, Algorithm::kRing, form.ranks) * kBytes, 1e-9 * kBytes);
            const std::vector<AlgorithmChoice> choices = candidates(comm, form, 0);
            EXPECT_EQ(std::count(choices.begin(), choices.end(), AlgorithmChoice{Algorithm::kMultiRing, 1}), 1);
        }
    }
}

// All-reduce: ring, direct, trees 2 (n - 1)/n B; doubling log2 p B; Rabenseifner 2 (p - 1)/p B, both with B in and out
// for the n - p ranks beyond the power of two p. The others (n - 1)/n B, Bruck's all-to-all popcount(0 .. n - 1)/n B.
TEST(Collective, bytes_sent_are_those_of_the_closed_form_on_2_to_33_ranks) {
    for (int n = 2; n <= 33; ++n) {
        for (const schedule::CommKind comm : kCollectives) {
            for (const AlgorithmChoice choice : candidates(comm, flat_form(n), 1)) {
                if (comm == schedule::CommKind::kBroadcast && choice.algorithm == Algorithm::kRing) {
                    continue;  // a test of its own
                }
                EXPECT_NEAR(mean_sent(comm, choice, flat_form(n)), share_sent(comm, choice.algorithm, n) * kBytes,
                            1e-9 * kBytes)
                    << name_of(comm, choice, flat_form(n));
            }
        }
    }
}

// Scatter: n / (2 d) messages of d / n B at every distance d, together log2(n) / 2 B; then the ring.
TEST(Collective, broadcast_by_a_ring_scatters_half_a_buffer_a_round_before_it_gathers) {
    for (const int n : {2, 4, 8, 16, 32}) {
        const double expected = (std::log2(n) / 2 + n - 1) / n * kBytes;
        EXPECT_NEAR(mean_sent(schedule::CommKind::kBroadcast, {Algorithm::kRing, 1}, flat_form(n)), expected,
                    1e-9 * kBytes);
    }
}

// k ranks a node, m nodes a block: (k - 1)/k B inside, (m - 1)/m B/k in the block, the algorithm's share of B/(k m)
// between b blocks; an all-to-all moves B at every level. An all-reduce goes inside twice.
TEST(Collective, bytes_sent_over_levels_add_up) {
    const GroupForm form{60, 20, 3, 5, 4};
    const double k = 3, m = 4;
    const double inside = (k - 1) / k, in_block = (m - 1) / m;
    for (const schedule::CommKind comm : {schedule::CommKind::kAllReduce, schedule::CommKind::kReduceScatter,
                                          schedule::CommKind::kAllGather, schedule::CommKind::kAllToAll}) {
        const double times = comm == schedule::CommKind::kAllReduce ? 2 : 1;
        const bool whole = comm == schedule::CommKind::kAllToAll;
        for (const AlgorithmChoice choice : candidates(comm, form, 2)) {
            const double expected = times * inside + share_sent(comm, choice.algorithm, form.nodes) / (whole ? 1 : k);
            EXPECT_NEAR(mean_sent(comm, choice, form), expected * kBytes, 1e-9 * kBytes) << name_of(comm, choice, form);
        }
        for (const AlgorithmChoice choice : candidates(comm, form, 3)) {
            const double expected = times * (inside + in_block / (whole ? 1 : k)) +
                                    share_sent(comm, choice.algorithm, form.blocks) / (whole ? 1 : k * m);
            EXPECT_NEAR(mean_sent(comm, choice, form), expected * kBytes, 1e-9 * kBytes) << name_of(comm, choice, form);
        }
    }
}

}  // namespace
}  // namespace auspex::network
