/// @file Rounds of algorithms: who sends to whom, how far and how much, what is added up.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "collective_closed_form.hpp"
#include "sim/network/collective/collective_phases.hpp"

namespace auspex::network {
namespace {

using namespace testing_collectives;

// Recursive doubling, reduce-scatter: B/2 at distance n/2, B/4 at n/4, ..., so that each round keeps the half that the
// rank's own block lies in; all-gather: B/n at 1, 2 B/n at 2, .... An all-reduce needs no order of blocks and sends
// most to the neighbour: B/2 at distance 1.
TEST(Collective, halving_by_itself_begins_at_the_largest_distance_and_within_an_all_reduce_at_the_smallest) {
    using Rounds = std::vector<std::pair<int, double>>;
    const auto rounds = [](schedule::CommKind comm, Algorithm algorithm) {
        Rounds found;
        for (const CollectiveStep& step : phases_of(comm, {algorithm, 1}, flat_form(8), kBytes, {}).steps) {
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
        return summed(phases_of(comm, {algorithm, 1}, form, kBytes, {}));
    };
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kRabenseifner}) {
        EXPECT_DOUBLE_EQ(of(schedule::CommKind::kAllReduce, algorithm), 3 * 15.0 / 16 * kBytes) << to_string(algorithm);
    }
    EXPECT_DOUBLE_EQ(of(schedule::CommKind::kAllReduce, Algorithm::kDirect), 17.0 / 16 * kBytes);
    EXPECT_DOUBLE_EQ(of(schedule::CommKind::kReduceScatter, Algorithm::kRecursiveDoubling), 3 * 15.0 / 16 * kBytes);
    EXPECT_DOUBLE_EQ(of(schedule::CommKind::kAllReduce, Algorithm::kRecursiveDoubling), 4 * 3 * kBytes);
    // B/2 of its own and of two children, in each of four rounds as long as if all levels had something to add.
    EXPECT_DOUBLE_EQ(of(schedule::CommKind::kAllReduce, Algorithm::kDoubleBinaryTree), 4 * 4 * kBytes / 2);
    for (const schedule::CommKind comm :
         {schedule::CommKind::kAllGather, schedule::CommKind::kAllToAll, schedule::CommKind::kBroadcast}) {
        for (const AlgorithmChoice choice : candidates(comm, form, 1)) {
            EXPECT_EQ(summed(phases_of(comm, choice, form, kBytes, {})), 0);
        }
    }
    // 4 ranks a node, 4 nodes: inside 4 pieces of B/4 at once, between three times two of B/16; 4 rings: 15 times two
    // of B/16 in all.
    const GroupForm nodes{16, 4, 4, 1, 4};
    EXPECT_DOUBLE_EQ(summed(phases_of(schedule::CommKind::kAllReduce, {Algorithm::kRing, 2}, nodes, kBytes, {})),
                     (5.0 / 4 + 3 * 3.0 / 16) * kBytes);
    EXPECT_DOUBLE_EQ(summed(phases_of(schedule::CommKind::kAllReduce, {Algorithm::kMultiRing, 1}, nodes, kBytes, {})),
                     3 * 15.0 / 16 * kBytes);
}

// B/2 in pieces of at most c over L = ceil(log2 n) levels, each way: L - 1 + ceil(B/2c) rounds with (L - 1) min(c, B/2)
// + B/2 altogether, which grows with B and c and jumps nowhere; of it a flow carries B/2. Up, two children's pieces are
// added to one's own in every round.
TEST(Collective, a_double_tree_passes_pieces_on_from_level_to_level) {
    const double half = kBytes / 2;
    for (const int n : {2, 3, 4, 5, 8, 33, 4096}) {
        for (const double chunk : {kWholeTree, half, half * 0.9999, half / 2, half / 2.5, half / 7}) {
            const std::vector<CollectiveStep> steps =
                phases_of(schedule::CommKind::kAllReduce, {Algorithm::kDoubleBinaryTree, 1}, flat_form(n), kBytes, {},
                          chunk)
                    .steps;
            const int parts = n == 2 ? 2 : 3;
            for (const StepShape shape : {StepShape::kTreesUp, StepShape::kTreesDown}) {
                double rounds = 0, bytes = 0, carried = 0, sums = 0;
                for (const CollectiveStep& step : steps) {
                    const bool counts = step.shape == shape;
                    rounds += counts ? step.rounds : 0;
                    bytes += counts ? step.bytes * step.rounds : 0;
                    carried += counts ? step.bytes * (step.rounds - step.idle_rounds) : 0;
                    sums += counts ? step.summing_bytes * step.rounds : 0;
                }
                const double piece = std::min(chunk, half);
                EXPECT_EQ(rounds, ceil_log2(n) - 1 + std::ceil(half / piece * (1 - 1e-12)));
                EXPECT_NEAR(bytes, (ceil_log2(n) - 1) * piece + half, 1e-9 * kBytes);
                EXPECT_NEAR(carried, half, 1e-9 * kBytes);
                EXPECT_NEAR(sums, shape == StepShape::kTreesUp ? (parts + 1) * bytes : 0, 1e-9 * kBytes);
            }
        }
    }
}

// More rounds than are played: distances spread over 1 .. n - 1, rounds that sum to n - 1, B/n each.
TEST(Collective, a_large_pairwise_exchange_plays_some_of_its_rounds_for_all) {
    const int n = 3 * kMaxRoundsOfExchange;
    const CollectivePhases phases =
        phases_of(schedule::CommKind::kAllToAll, {Algorithm::kPairwise, 1}, flat_form(n), kBytes, {});
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
    EXPECT_TRUE(phases_of(schedule::CommKind::kAllReduce, {Algorithm::kRing, 1}, flat_form(1), 1e6, {.staging = true})
                    .steps.empty());
    EXPECT_TRUE(phases_of(schedule::CommKind::kNone, {Algorithm::kRing, 1}, flat_form(8), 1e6, {.staging = true})
                    .steps.empty());
    EXPECT_TRUE(phases_of(schedule::CommKind::kReceive, {Algorithm::kRing, 1}, flat_form(8), 1e6, {.staging = true})
                    .steps.empty());
}

}  // namespace
}  // namespace auspex::network
