/// @file Which algorithm is played: by rule, by candidates, and where one gives way to another.
#include <gtest/gtest.h>

#include <limits>

#include "collective_closed_form.hpp"
#include "sim/network/collective/collective_phases.hpp"

namespace auspex::network {
namespace {

using namespace testing_collectives;

TEST(Collective, several_rings_give_way_to_one_where_nodes_are_uneven_or_one_or_have_one_rank) {
    // Forms are {ranks, nodes, ranks a node or 0 where uneven, blocks, nodes a block}: 4 ranks on each of 2 nodes;
    // one node; a rank a node; uneven; two levels.
    const auto played = [](AlgorithmChoice choice, const GroupForm& form) {
        return phases_of(schedule::CommKind::kAllGather, choice, form, kBytes, {}).choice;
    };
    const AlgorithmChoice ring{Algorithm::kRing, 1}, rings{Algorithm::kMultiRing, 1};
    EXPECT_EQ(played(rings, {8, 2, 4, 1, 2}), rings);
    EXPECT_EQ(played(rings, {8, 1, 8, 1, 1}), ring);
    EXPECT_EQ(played(rings, {8, 8, 1, 1, 8}), ring);
    EXPECT_EQ(played(rings, {8, 2, 0, 1, 2}), ring);
    EXPECT_EQ(played({Algorithm::kMultiRing, 2}, {8, 2, 4, 1, 2}), (AlgorithmChoice{Algorithm::kRing, 2}));
}

TEST(Collective, levels_with_one_member_fall_away) {
    const auto played = [](schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form) {
        return phases_of(comm, choice, form, kBytes, {}).choice;
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
    // Halving folds the 4 nodes beyond 8 in; what an all-to-all cannot do gives way.
    const GroupForm form{48, 12, 4, 4, 3};
    const Choice halving_2{Algorithm::kRecursiveDoubling, 2}, halving_3{Algorithm::kRecursiveDoubling, 3};
    EXPECT_EQ(played(schedule::CommKind::kReduceScatter, halving_2, form), halving_2);
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
                    EXPECT_EQ(phases_of(comm, choice, form, kBytes, {}).choice, choice);
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
    EXPECT_EQ(choice_by_rule(rules, 1e6, flat_form(12)), (AlgorithmChoice{Algorithm::kRecursiveDoubling, 2}));
    EXPECT_EQ(choice_by_rule(rules, 1e6 + 1, flat_form(12)), (AlgorithmChoice{Algorithm::kRing, 1}));
    EXPECT_EQ(choice_by_rule({}, 1, flat_form(12)), (AlgorithmChoice{Algorithm::kAuto, 0}));
}

// Limits of ranks, nodes and bytes a rank hold together with that of size; 12 ranks on 6 nodes are no power of two.
TEST(Collective, rules_pick_the_algorithm_by_the_shape_of_the_group) {
    models::AlgorithmRule few{models::kAnySize, Algorithm::kDirect, 1}, power{1e6, Algorithm::kBruck, 1};
    few.max_nodes = 2;
    few.max_ranks = 16;
    power.power_of_two = true;
    power.max_bytes_per_rank = 1000;
    const std::vector<models::AlgorithmRule> rules{few, power, {models::kAnySize, Algorithm::kRing, 1}};
    const auto chosen = [&](double bytes, const GroupForm& form) {
        return choice_by_rule(rules, bytes, form).algorithm;
    };
    EXPECT_EQ(chosen(1e9, {16, 2, 8, 1, 2}), Algorithm::kDirect);
    EXPECT_EQ(chosen(1e9, {24, 2, 12, 1, 2}), Algorithm::kRing);
    EXPECT_EQ(chosen(16e3, {16, 4, 4, 1, 4}), Algorithm::kBruck);
    EXPECT_EQ(chosen(16e3 + 1, {16, 4, 4, 1, 4}), Algorithm::kRing);
    EXPECT_EQ(chosen(1200, {12, 6, 2, 1, 6}), Algorithm::kRing);
}

}  // namespace
}  // namespace auspex::network
