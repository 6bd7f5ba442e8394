/// @file Algorithms as rounds: what every rank ends up with, bytes against their closed forms, what gives way.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "collective_closed_form.hpp"
#include "collective_replay.hpp"
#include "sim/network/collective/collective_phases.hpp"

namespace auspex::network {
namespace {

using namespace testing_collectives;

void expect_right_data(schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
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
    replay.play(phases_of(comm, choice, form, kBytes, false).steps);
    double sum = 0;
    for (const double sent : replay.sent) {
        sum += sent;
    }
    return sum / form.ranks;
}

// Recursive doubling, reduce-scatter: B/2 at distance n/2, B/4 at n/4, ..., so that each round keeps the half that the
// rank's own block lies in; all-gather: B/n at 1, 2 B/n at 2, .... An all-reduce needs no order of blocks and sends
// most to the neighbour: B/2 at distance 1.
TEST(Collective, halving_by_itself_begins_at_the_largest_distance_and_within_an_all_reduce_at_the_smallest) {
    using Rounds = std::vector<std::pair<int, double>>;
    const auto rounds = [](schedule::CommKind comm, Algorithm algorithm) {
        Rounds found;
        for (const CollectiveStep& step : phases_of(comm, {algorithm, 1}, flat_form(8), kBytes, false).steps) {
            found.emplace_back(step.distance, step.bytes / kBytes);
        }
        return found;
    };
    EXPECT_EQ(rounds(schedule::CommKind::kReduceScatter, Algorithm::kRecursiveDoubling),
              (Rounds{{4, .5}, {2, .25}, {1, .125}}));
    EXPECT_EQ(rounds(schedule::CommKind::kAllGather, Algorithm::kRecursiveDoubling),
              (Rounds{{1, .125}, {2, .25}, {4, .5}}));
    EXPECT_EQ(rounds(schedule::CommKind::kAllReduce, Algorithm::kRabenseifner),
              (Rounds{{1, .5}, {2, .25}, {4, .125}, {4, .125}, {2, .25}, {1, .5}}));
}

// k rings: a rank has one successor and one predecessor in each, and each ring leaves a node at a rank of its own for
// the same place of the next node; only from the last of an odd number of nodes back to the first not the same.
TEST(Collective, rings_leave_and_enter_every_node_once_each_at_a_place_of_its_own) {
    for (const int k : {2, 3, 4, 8, 12}) {
        for (const int nodes : {2, 3, 4, 5, 8}) {
            SCOPED_TRACE(std::to_string(nodes) + " nodes of " + std::to_string(k));
            std::vector<std::vector<int>> left(static_cast<std::size_t>(nodes)), entered(left);
            std::vector<int> sent(static_cast<std::size_t>(nodes * k)), received(sent);
            int places_change = 0;
            for_each_pair(StepShape::kRings, k, nodes * k, [&](int i, int j) {
                ++sent[static_cast<std::size_t>(i)];
                ++received[static_cast<std::size_t>(j)];
                if (i / k != j / k) {
                    EXPECT_EQ(j / k, (i / k + 1) % nodes);
                    left[static_cast<std::size_t>(i / k)].push_back(i % k);
                    entered[static_cast<std::size_t>(j / k)].push_back(j % k);
                    places_change += i % k != j % k ? 1 : 0;
                }
            });
            EXPECT_EQ(sent, std::vector<int>(sent.size(), k));
            EXPECT_EQ(received, sent);
            for (const auto& places : {left, entered}) {
                for (const std::vector<int>& of_node : places) {
                    EXPECT_EQ(of_node.size(), static_cast<std::size_t>(k));
                    EXPECT_EQ(std::set<int>(of_node.begin(), of_node.end()).size(), static_cast<std::size_t>(k));
                }
            }
            EXPECT_EQ(places_change, nodes % 2 == 0 ? 0 : k);
        }
    }
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

TEST(Collective, several_rings_give_way_to_one_where_nodes_are_uneven_or_one_or_have_one_rank) {
    // Forms are {ranks, nodes, ranks a node or 0 where uneven, blocks, nodes a block}: 4 ranks on each of 2 nodes;
    // one node; a rank a node; uneven; two levels.
    const auto played = [](AlgorithmChoice choice, const GroupForm& form) {
        return phases_of(schedule::CommKind::kAllGather, choice, form, kBytes, false).choice;
    };
    const AlgorithmChoice ring{Algorithm::kRing, 1}, rings{Algorithm::kMultiRing, 1};
    EXPECT_EQ(played(rings, {8, 2, 4, 1, 2}), rings);
    EXPECT_EQ(played(rings, {8, 1, 8, 1, 1}), ring);
    EXPECT_EQ(played(rings, {8, 8, 1, 1, 8}), ring);
    EXPECT_EQ(played(rings, {8, 2, 0, 1, 2}), ring);
    EXPECT_EQ(played({Algorithm::kMultiRing, 2}, {8, 2, 4, 1, 2}), (AlgorithmChoice{Algorithm::kRing, 2}));
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

double summed(const CollectivePhases& phases) {
    double sum = 0;
    for (const CollectiveStep& step : phases.steps) {
        sum += step.rounds * step.summing_bytes;
    }
    return sum;
}

// p pieces, one's own among them: p reads and one write. One by one: n - 1 times two pieces of B/n; all at once: n
// pieces of B/n; two whole buffers in every round of doubling.
TEST(Collective, adding_up_reads_every_piece_once_and_writes_their_sum) {
    const GroupForm form = flat_form(16);
    const auto of = [&](schedule::CommKind comm, Algorithm algorithm) {
        return summed(phases_of(comm, {algorithm, 1}, form, kBytes, false));
    };
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kRabenseifner}) {
        EXPECT_DOUBLE_EQ(of(schedule::CommKind::kAllReduce, algorithm), 3 * 15.0 / 16 * kBytes) << to_string(algorithm);
    }
    EXPECT_DOUBLE_EQ(of(schedule::CommKind::kAllReduce, Algorithm::kDirect), 17.0 / 16 * kBytes);
    EXPECT_DOUBLE_EQ(of(schedule::CommKind::kReduceScatter, Algorithm::kRecursiveDoubling), 3 * 15.0 / 16 * kBytes);
    EXPECT_DOUBLE_EQ(of(schedule::CommKind::kAllReduce, Algorithm::kRecursiveDoubling), 4 * 3 * kBytes);
    // B/2 of its own and of two children.
    EXPECT_DOUBLE_EQ(of(schedule::CommKind::kAllReduce, Algorithm::kDoubleBinaryTree), 4 * kBytes / 2);
    for (const schedule::CommKind comm :
         {schedule::CommKind::kAllGather, schedule::CommKind::kAllToAll, schedule::CommKind::kBroadcast}) {
        for (const AlgorithmChoice choice : candidates(comm, form, 1)) {
            EXPECT_EQ(summed(phases_of(comm, choice, form, kBytes, false)), 0);
        }
    }
    // 4 ranks a node, 4 nodes: inside 4 pieces of B/4 at once, between three times two of B/16; 4 rings: 15 times two
    // of B/16 in all.
    const GroupForm nodes{16, 4, 4, 1, 4};
    EXPECT_DOUBLE_EQ(summed(phases_of(schedule::CommKind::kAllReduce, {Algorithm::kRing, 2}, nodes, kBytes, false)),
                     (5.0 / 4 + 3 * 3.0 / 16) * kBytes);
    EXPECT_DOUBLE_EQ(
        summed(phases_of(schedule::CommKind::kAllReduce, {Algorithm::kMultiRing, 1}, nodes, kBytes, false)),
        3 * 15.0 / 16 * kBytes);
}

// L = ceil(log2 n) equal rounds each way; over every edge B/2 up, added to two children's B/2 / L in every round, and
// B/2 down.
TEST(Collective, a_double_tree_moves_and_adds_up_equal_parts_in_every_round) {
    for (const int n : {2, 3, 4, 5, 8, 33, 4096}) {
        const std::vector<CollectiveStep> steps =
            phases_of(schedule::CommKind::kAllReduce, {Algorithm::kDoubleBinaryTree, 1}, flat_form(n), kBytes, false)
                .steps;
        ASSERT_EQ(steps.size(), 2U);
        const int pieces = n == 2 ? 2 : 3;
        for (const CollectiveStep& step : steps) {
            EXPECT_EQ(step.rounds, ceil_log2(n));
            EXPECT_DOUBLE_EQ(step.rounds * step.bytes, kBytes / 2);
            const bool up = step.shape == StepShape::kTreesUp;
            EXPECT_DOUBLE_EQ(step.summing_bytes, up ? (pieces + 1) * step.bytes : 0);
        }
    }
}

TEST(Collective, steps_say_what_they_are_for) {
    const CollectivePhases phases =
        phases_of(schedule::CommKind::kAllReduce, {Algorithm::kRing, 3}, {24, 6, 4, 2, 3}, kBytes, true);
    std::vector<std::string> what;
    for (const CollectiveStep& step : phases.steps) {
        what.emplace_back(step.what);
    }
    EXPECT_EQ(what, (std::vector<std::string>{
                        "copy to the host", "reduce-scatter in host memory", "reduce-scatter in a group of nodes",
                        "reduce-scatter between groups of nodes", "all-gather between groups of nodes",
                        "all-gather in a group of nodes", "copy from the host"}));
}

// Copies hold what a rank sends, before, and what it receives, after; only where the node is left.
TEST(Collective, staging_copies_what_is_sent_and_what_is_received) {
    const GroupForm form{8, 4, 2, 1, 4};
    const auto copies = [&](schedule::CommKind comm, Algorithm algorithm) {
        const std::vector<CollectiveStep> steps = phases_of(comm, {algorithm, 1}, form, kBytes, true).steps;
        EXPECT_EQ(steps.front().shape, StepShape::kToHost);
        EXPECT_EQ(steps.back().shape, StepShape::kFromHost);
        return std::array{steps.front().bytes / kBytes, steps.back().bytes / kBytes};
    };
    using Shares = std::array<double, 2>;
    EXPECT_EQ(copies(schedule::CommKind::kAllReduce, Algorithm::kRing), (Shares{1, 1}));
    EXPECT_EQ(copies(schedule::CommKind::kBroadcast, Algorithm::kRing), (Shares{1, 1}));
    EXPECT_EQ(copies(schedule::CommKind::kSend, Algorithm::kDirect), (Shares{1, 1}));
    EXPECT_EQ(copies(schedule::CommKind::kReduceScatter, Algorithm::kRing), (Shares{1, 1.0 / 8}));
    EXPECT_EQ(copies(schedule::CommKind::kAllGather, Algorithm::kRing), (Shares{1.0 / 8, 1}));
    EXPECT_EQ(copies(schedule::CommKind::kAllToAll, Algorithm::kPairwise), (Shares{7.0 / 8, 7.0 / 8}));
    EXPECT_EQ(
        phases_of(schedule::CommKind::kAllReduce, {Algorithm::kRing, 1}, {8, 1, 8, 1, 1}, kBytes, true).steps.size(),
        2U);
    EXPECT_EQ(phases_of(schedule::CommKind::kBarrier, {Algorithm::kDirect, 1}, flat_form(8), 0, true).steps.size(), 1U);
}

// k = 4 ranks of a node share host memory. Reduce-scatter: the k pieces of B/k read, one written, B + B/k; all-to-all:
// B read, B written; nothing for what would be gathered or scattered. Nothing goes from tile to tile.
TEST(Collective, staged_levels_meet_in_host_memory_in_the_node) {
    const GroupForm form{24, 6, 4, 2, 3};
    const auto shares = [&](schedule::CommKind comm, AlgorithmChoice choice) {
        std::vector<double> found;
        for (const CollectiveStep& step : phases_of(comm, choice, form, kBytes, true).steps) {
            EXPECT_TRUE(step.level != Level::kIntraNode || step.shape == StepShape::kInHost) << step.what;
            if (step.shape == StepShape::kInHost) {
                EXPECT_EQ(step.rounds, 1);
                EXPECT_EQ(step.summing_bytes, 0) << "the device adds nothing up";
                found.push_back(step.bytes / kBytes);
            }
        }
        return found;
    };
    using Shares = std::vector<double>;
    for (const int levels : {2, 3}) {
        EXPECT_EQ(shares(schedule::CommKind::kAllReduce, {Algorithm::kRing, levels}), Shares{1.25});
        EXPECT_EQ(shares(schedule::CommKind::kReduceScatter, {Algorithm::kRing, levels}), Shares{1.25});
        EXPECT_EQ(shares(schedule::CommKind::kAllToAll, {Algorithm::kPairwise, levels}), Shares{2});
        EXPECT_EQ(shares(schedule::CommKind::kAllGather, {Algorithm::kRing, levels}), Shares{});
        EXPECT_EQ(shares(schedule::CommKind::kBroadcast, {Algorithm::kDirect, levels}), Shares{});
    }
    EXPECT_EQ(shares(schedule::CommKind::kAllReduce, {Algorithm::kRing, 1}), Shares{});
    // A barrier moves nothing and is dissemination in the node as ever.
    for (const CollectiveStep& step :
         phases_of(schedule::CommKind::kBarrier, {Algorithm::kDirect, 1}, form, 0, true).steps) {
        EXPECT_EQ(step.shape, StepShape::kShift);
    }
}

TEST(Collective, levels_with_one_member_fall_away) {
    const auto played = [](schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
        return phases_of(comm, choice, form, kBytes, false).choice;
    };
    using Choice = AlgorithmChoice;
    const schedule::CommKind all_reduce = schedule::CommKind::kAllReduce;
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
    EXPECT_EQ(played(schedule::CommKind::kReduceScatter, halving_2, form), (Choice{Algorithm::kRing, 2}));
    EXPECT_EQ(played(schedule::CommKind::kReduceScatter, halving_3, form), halving_3);
    EXPECT_EQ(played(schedule::CommKind::kAllToAll, {Algorithm::kRing, 1}, form), (Choice{Algorithm::kPairwise, 1}));
}

TEST(Collective, candidates_are_played_as_they_are_named) {
    for (const GroupForm& form : {flat_form(12), GroupForm{24, 2, 12, 1, 2}, GroupForm{48, 12, 4, 4, 3},
                                  GroupForm{12, 1, 12, 1, 1}, GroupForm{20, 2, 0, 1, 2}}) {
        for (const schedule::CommKind comm : kCollectives) {
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
    // A rule holds up to its size; where there is none the fastest is taken.
    const std::vector<models::AlgorithmRule> rules{{1e6, Algorithm::kRecursiveDoubling, 2},
                                                   {std::numeric_limits<double>::infinity(), Algorithm::kRing, 1}};
    EXPECT_EQ(choice_by_rule(rules, 1e6), (AlgorithmChoice{Algorithm::kRecursiveDoubling, 2}));
    EXPECT_EQ(choice_by_rule(rules, 1e6 + 1), (AlgorithmChoice{Algorithm::kRing, 1}));
    EXPECT_EQ(choice_by_rule({}, 1), (AlgorithmChoice{Algorithm::kAuto, 0}));
}

// More rounds than are played: distances spread over 1 .. n - 1, rounds that sum to n - 1, B/n each.
TEST(Collective, a_large_pairwise_exchange_plays_some_of_its_rounds_for_all) {
    const int n = 3 * kMaxRoundsOfExchange;
    const CollectivePhases phases =
        phases_of(schedule::CommKind::kAllToAll, {Algorithm::kPairwise, 1}, flat_form(n), kBytes, false);
    ASSERT_EQ(phases.steps.size(), static_cast<std::size_t>(kMaxRoundsOfExchange));
    double bytes = 0;
    int rounds = 0, last = 0;
    for (const CollectiveStep& step : phases.steps) {
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
    EXPECT_TRUE(
        phases_of(schedule::CommKind::kAllReduce, {Algorithm::kRing, 1}, flat_form(1), 1e6, true).steps.empty());
    EXPECT_TRUE(phases_of(schedule::CommKind::kNone, {Algorithm::kRing, 1}, flat_form(8), 1e6, true).steps.empty());
    EXPECT_TRUE(phases_of(schedule::CommKind::kReceive, {Algorithm::kRing, 1}, flat_form(8), 1e6, true).steps.empty());
}

}  // namespace
}  // namespace auspex::network
