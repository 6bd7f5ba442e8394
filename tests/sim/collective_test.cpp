/// @file Algorithms as rounds: what every rank ends up with, bytes against their closed forms, what gives way.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "collective_closed_form.hpp"
#include "collective_replay.hpp"
#include "sim/collective_phases.hpp"

namespace auspex {
namespace {

using namespace testing_collectives;

void expect_right_data(CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
    SCOPED_TRACE(name_of(comm, choice, form));
    const CollectivePhases phases = phases_of(comm, choice, form, kBytes, false);
    ASSERT_EQ(phases.choice, choice);
    Replay replay(comm, choice, form, kBytes);
    replay.play(phases.steps);
    ASSERT_EQ(replay.problems, std::vector<std::string>());
    std::set<int> scattered;
    for (int rank = 0; rank < form.ranks; ++rank) {
        const std::vector<int> complete = replay.complete(rank);
        const auto all = static_cast<std::size_t>(replay.chunks());
        if (comm == CommKind::kAllToAll) {
            ASSERT_EQ(replay.items(rank).size(), static_cast<std::size_t>(form.ranks));
            for (const auto& [from, to] : replay.items(rank)) {
                ASSERT_EQ(to, rank);
            }
        } else if (comm == CommKind::kReduceScatter) {
            ASSERT_EQ(complete.size(), all / static_cast<std::size_t>(form.ranks));
            scattered.insert(complete.begin(), complete.end());
        } else {
            ASSERT_EQ(complete.size(), all) << "rank " << rank;
        }
    }
    if (comm == CommKind::kReduceScatter) {
        EXPECT_EQ(scattered.size(), static_cast<std::size_t>(replay.chunks()));
    }
}

TEST(Collective, every_algorithm_brings_every_rank_its_data_on_2_to_33_ranks) {
    for (int n = 2; n <= 33; ++n) {
        for (const CommKind comm : kCollectives) {
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
        for (const CommKind comm : kCollectives) {
            for (const AlgorithmChoice choice : candidates(comm, form, 0)) {
                expect_right_data(comm, choice, form);
                over_three += choice.levels == 3 ? 1 : 0;
            }
        }
    }
    EXPECT_GT(over_three, 50U);
}

double mean_sent(CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
    Replay replay(comm, choice, form, kBytes);
    replay.play(phases_of(comm, choice, form, kBytes, false).steps);
    double sum = 0;
    for (const double sent : replay.sent) {
        sum += sent;
    }
    return sum / form.ranks;
}

// All-reduce: ring, direct, trees 2 (n - 1)/n B; doubling log2 p B; Rabenseifner 2 (p - 1)/p B, both with B in and out
// for the n - p ranks beyond the power of two p. The others (n - 1)/n B, Bruck's all-to-all popcount(0 .. n - 1)/n B.
TEST(Collective, bytes_sent_are_those_of_the_closed_form_on_2_to_33_ranks) {
    for (int n = 2; n <= 33; ++n) {
        for (const CommKind comm : kCollectives) {
            for (const AlgorithmChoice choice : candidates(comm, flat_form(n), 1)) {
                if (comm == CommKind::kBroadcast && choice.algorithm == Algorithm::kRing) {
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
        EXPECT_NEAR(mean_sent(CommKind::kBroadcast, {Algorithm::kRing, 1}, flat_form(n)), expected, 1e-9 * kBytes);
    }
}

// k ranks a node, m nodes a block: (k - 1)/k B inside, (m - 1)/m B/k in the block, the algorithm's share of B/(k m)
// between b blocks; an all-to-all moves B at every level. An all-reduce goes inside twice.
TEST(Collective, bytes_sent_over_levels_add_up) {
    const GroupForm form{60, 20, 3, 5, 4};
    const double k = 3, m = 4;
    const double inside = (k - 1) / k, in_block = (m - 1) / m;
    for (const CommKind comm :
         {CommKind::kAllReduce, CommKind::kReduceScatter, CommKind::kAllGather, CommKind::kAllToAll}) {
        const double times = comm == CommKind::kAllReduce ? 2 : 1;
        const bool whole = comm == CommKind::kAllToAll;
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

TEST(Collective, no_rank_has_children_in_both_trees_and_their_height_is_floor_log2) {
    for (int n = 2; n <= 300; ++n) {
        std::vector<std::array<int, 2>> children(static_cast<std::size_t>(n)), parent(children.size());
        for (auto& of_rank : parent) {
            of_rank = {-1, -1};
        }
        int edge = 0;
        for_each_pair(StepShape::kTreesUp, 0, n, [&](int child, int above) {
            const std::size_t tree = edge++ < n - 1 ? 0 : 1;
            ++children[static_cast<std::size_t>(above)][tree];
            EXPECT_EQ(parent[static_cast<std::size_t>(child)][tree], -1);
            parent[static_cast<std::size_t>(child)][tree] = above;
        });
        ASSERT_EQ(edge, 2 * (n - 1));
        int height = 0;
        for (int rank = 0; rank < n; ++rank) {
            const auto& of_rank = children[static_cast<std::size_t>(rank)];
            EXPECT_TRUE(of_rank[0] == 0 || of_rank[1] == 0) << "rank " << rank << " of " << n;
            EXPECT_LE(std::max(of_rank[0], of_rank[1]), 2);
            for (const std::size_t tree : {0U, 1U}) {
                int depth = 0;
                for (int i = rank; parent[static_cast<std::size_t>(i)][tree] >= 0; ++depth) {
                    i = parent[static_cast<std::size_t>(i)][tree];
                }
                height = std::max(height, depth);
            }
        }
        EXPECT_EQ(height, floor_log2(n));
    }
}

double reduced(const CollectivePhases& phases) {
    double sum = 0;
    for (const Step& step : phases.steps) {
        sum += step.rounds * step.reduced_bytes;
    }
    return sum;
}

// Whoever ends up with B/n reduced by n ranks has added n - 1 times B/n; the whole buffer in every round of doubling.
TEST(Collective, bytes_added_up_are_those_that_arrive_in_rounds_that_reduce) {
    const GroupForm form = flat_form(16);
    const auto of = [&](CommKind comm, Algorithm algorithm) {
        return reduced(phases_of(comm, {algorithm, 1}, form, kBytes, false));
    };
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kDirect, Algorithm::kRabenseifner}) {
        EXPECT_DOUBLE_EQ(of(CommKind::kAllReduce, algorithm), 15.0 / 16 * kBytes) << to_string(algorithm);
    }
    EXPECT_DOUBLE_EQ(of(CommKind::kReduceScatter, Algorithm::kRecursiveDoubling), 15.0 / 16 * kBytes);
    EXPECT_DOUBLE_EQ(of(CommKind::kAllReduce, Algorithm::kRecursiveDoubling), 4 * kBytes);
    EXPECT_DOUBLE_EQ(of(CommKind::kAllReduce, Algorithm::kDoubleBinaryTree), kBytes);  // two children, B/2 of each
    for (const CommKind comm : {CommKind::kAllGather, CommKind::kAllToAll, CommKind::kBroadcast}) {
        for (const AlgorithmChoice choice : candidates(comm, form, 1)) {
            EXPECT_EQ(reduced(phases_of(comm, choice, form, kBytes, false)), 0);
        }
    }
    // 4 ranks a node, 4 nodes: 3/4 B inside and 3/4 of B/4 between.
    const GroupForm nodes{16, 4, 4, 1, 4};
    EXPECT_DOUBLE_EQ(reduced(phases_of(CommKind::kAllReduce, {Algorithm::kRing, 2}, nodes, kBytes, false)),
                     (0.75 + 0.75 / 4) * kBytes);
}

TEST(Collective, steps_say_what_they_are_for) {
    const CollectivePhases phases =
        phases_of(CommKind::kAllReduce, {Algorithm::kRing, 3}, {24, 6, 4, 2, 3}, kBytes, true);
    std::vector<std::string> what;
    for (const Step& step : phases.steps) {
        what.emplace_back(step.what);
    }
    EXPECT_EQ(what, (std::vector<std::string>{
                        "copy to the host", "reduce-scatter in the node", "reduce-scatter between nodes of a block",
                        "reduce-scatter between blocks", "all-gather between blocks",
                        "all-gather between nodes of a block", "all-gather in the node", "copy from the host"}));
}

// Copies hold what a rank sends, before, and what it receives, after; only where the node is left.
TEST(Collective, staging_copies_what_is_sent_and_what_is_received) {
    const GroupForm form{8, 4, 2, 1, 4};
    const auto copies = [&](CommKind comm, Algorithm algorithm) {
        const std::vector<Step> steps = phases_of(comm, {algorithm, 1}, form, kBytes, true).steps;
        EXPECT_EQ(steps.front().shape, StepShape::kToHost);
        EXPECT_EQ(steps.back().shape, StepShape::kFromHost);
        return std::array{steps.front().bytes / kBytes, steps.back().bytes / kBytes};
    };
    using Shares = std::array<double, 2>;
    EXPECT_EQ(copies(CommKind::kAllReduce, Algorithm::kRing), (Shares{1, 1}));
    EXPECT_EQ(copies(CommKind::kBroadcast, Algorithm::kRing), (Shares{1, 1}));
    EXPECT_EQ(copies(CommKind::kSend, Algorithm::kDirect), (Shares{1, 1}));
    EXPECT_EQ(copies(CommKind::kReduceScatter, Algorithm::kRing), (Shares{1, 1.0 / 8}));
    EXPECT_EQ(copies(CommKind::kAllGather, Algorithm::kRing), (Shares{1.0 / 8, 1}));
    EXPECT_EQ(copies(CommKind::kAllToAll, Algorithm::kPairwise), (Shares{7.0 / 8, 7.0 / 8}));
    EXPECT_EQ(phases_of(CommKind::kAllReduce, {Algorithm::kRing, 1}, {8, 1, 8, 1, 1}, kBytes, true).steps.size(), 2U);
    EXPECT_EQ(phases_of(CommKind::kBarrier, {Algorithm::kDirect, 1}, flat_form(8), 0, true).steps.size(), 1U);
}

TEST(Collective, levels_with_one_member_fall_away) {
    const auto played = [](CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
        return phases_of(comm, choice, form, kBytes, false).choice;
    };
    using Choice = AlgorithmChoice;
    const CommKind all_reduce = CommKind::kAllReduce;
    EXPECT_EQ(played(all_reduce, {Algorithm::kRing, 2}, {8, 1, 8, 1, 1}), (Choice{Algorithm::kDirect, 1}));
    EXPECT_EQ(played(all_reduce, {Algorithm::kRing, 2}, {8, 8, 1, 1, 8}), (Choice{Algorithm::kRing, 1}));
    EXPECT_EQ(played(all_reduce, {Algorithm::kRing, 3}, {8, 2, 4, 1, 2}), (Choice{Algorithm::kDirect, 2}));
    EXPECT_EQ(played(all_reduce, {Algorithm::kRing, 3}, {8, 2, 4, 2, 1}), (Choice{Algorithm::kRing, 2}));
    EXPECT_EQ(played(all_reduce, {Algorithm::kRing, 3}, {8, 8, 1, 2, 4}), (Choice{Algorithm::kRing, 3}));
    // Uneven nodes or blocks: one level less.
    EXPECT_EQ(played(all_reduce, {Algorithm::kRing, 3}, {12, 2, 0, 1, 2}), (Choice{Algorithm::kRing, 1}));
    EXPECT_EQ(played(all_reduce, {Algorithm::kRing, 3}, {12, 6, 2, 2, 0}), (Choice{Algorithm::kRing, 2}));
    // Halving over 6 nodes cannot be; over 4 blocks it can.
    const GroupForm form{48, 12, 4, 4, 3};
    const Choice halving_2{Algorithm::kRecursiveDoubling, 2}, halving_3{Algorithm::kRecursiveDoubling, 3};
    EXPECT_EQ(played(CommKind::kReduceScatter, halving_2, form), (Choice{Algorithm::kRing, 2}));
    EXPECT_EQ(played(CommKind::kReduceScatter, halving_3, form), halving_3);
    EXPECT_EQ(played(CommKind::kAllToAll, {Algorithm::kRing, 1}, form), (Choice{Algorithm::kPairwise, 1}));
}

TEST(Collective, candidates_are_played_as_they_are_named) {
    for (const GroupForm& form : {flat_form(12), GroupForm{24, 2, 12, 1, 2}, GroupForm{48, 12, 4, 4, 3},
                                  GroupForm{12, 1, 12, 1, 1}, GroupForm{20, 2, 0, 1, 2}}) {
        for (const CommKind comm : kCollectives) {
            for (const int levels : {0, 1, 2, 3}) {
                const std::vector<AlgorithmChoice> choices = candidates(comm, form, levels);
                EXPECT_FALSE(choices.empty());
                for (const AlgorithmChoice choice : choices) {
                    EXPECT_EQ(phases_of(comm, choice, form, kBytes, false).choice, choice);
                    EXPECT_TRUE(levels == 0 || choice.levels <= levels);
                }
            }
        }
    }
}

TEST(Collective, rules_pick_the_algorithm_by_size) {
    const std::vector<AlgorithmRule> rules{{1e6, Algorithm::kRecursiveDoubling, 2},
                                           {std::numeric_limits<double>::infinity(), Algorithm::kRing, 1}};
    EXPECT_EQ(choice_by_rule(rules, 1e6), (AlgorithmChoice{Algorithm::kRecursiveDoubling, 2}));
    EXPECT_EQ(choice_by_rule(rules, 1e6 + 1), (AlgorithmChoice{Algorithm::kRing, 1}));
    EXPECT_EQ(choice_by_rule({}, 1), (AlgorithmChoice{Algorithm::kAuto, 0}));
}

// More rounds than are played: distances spread over 1 .. n - 1, rounds that sum to n - 1, B/n each.
TEST(Collective, a_large_pairwise_exchange_plays_some_of_its_rounds_for_all) {
    const int n = 3 * kMostRoundsOfExchange;
    const CollectivePhases phases =
        phases_of(CommKind::kAllToAll, {Algorithm::kPairwise, 1}, flat_form(n), kBytes, false);
    ASSERT_EQ(phases.steps.size(), static_cast<std::size_t>(kMostRoundsOfExchange));
    double bytes = 0;
    int rounds = 0, last = 0;
    for (const Step& step : phases.steps) {
        EXPECT_GT(step.distance, last);
        last = step.distance;
        bytes += step.bytes * step.rounds;
        rounds += step.rounds;
    }
    EXPECT_LT(last, n);
    EXPECT_NEAR(bytes, (n - 1.0) / n * kBytes, 1e-9 * kBytes);
    EXPECT_EQ(rounds, n - 1);
}

TEST(Collective, nothing_is_done_by_one_rank_or_without_communication) {
    EXPECT_TRUE(phases_of(CommKind::kAllReduce, {Algorithm::kRing, 1}, flat_form(1), 1e6, true).steps.empty());
    EXPECT_TRUE(phases_of(CommKind::kNone, {Algorithm::kRing, 1}, flat_form(8), 1e6, true).steps.empty());
    EXPECT_TRUE(phases_of(CommKind::kReceive, {Algorithm::kRing, 1}, flat_form(8), 1e6, true).steps.empty());
}

}  // namespace
}  // namespace auspex
