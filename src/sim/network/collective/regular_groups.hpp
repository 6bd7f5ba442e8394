#pragma once
/// @file Groups of ranks by rule on blocks that are alike: what those of one block do, those of every block do.
#include <cstdint>
#include <optional>
#include <vector>

#include "models/group_ranks.hpp"
#include "sim/network/collective/group_set.hpp"

namespace auspex::network {

/// How ranks lie on nodes and alike blocks.
struct RankPlaces {
    int tiles = 1;            ///< of a node
    int ranks_per_block = 0;  ///< 0: blocks are not alike
    int blocks = 0;
};
[[nodiscard]] RankPlaces rank_places(const Fabric& fabric);

/// Sibling groups whose digits each stay in a node, go from node to node of a block, or from block to block (member
/// digits of this kind first), and take the ranks of every block alike. Equal where the groups are, member by member.
struct RegularGroups {
    int first = 0;  ///< rank, in the first block
    std::vector<models::RankDigit> groups, members;
    bool operator==(const RegularGroups&) const = default;

    [[nodiscard]] std::size_t count() const;
    [[nodiscard]] std::size_t group_size() const;
};

/// None if the family is not so. `pairs`: its groups are {from, to}.
[[nodiscard]] std::optional<RegularGroups> regular_groups(const models::RankFamily& family, bool pairs,
                                                          const RankPlaces& at);
/// As subgroups() of what they stand for. Not for pairs.
[[nodiscard]] RegularGroups regular_subgroups(const RegularGroups& groups, Level level, const RankPlaces& at);
/// As form_of(), or form_of_pairs(). None if pairs cut across nodes.
[[nodiscard]] std::optional<GroupForm> form_of_regular(const RegularGroups& groups, bool pairs, const RankPlaces& at);

/// Numbers that the digits with strides of [begin, end), up or down, make, the last digit the fastest.
[[nodiscard]] std::vector<int> sums_of(const std::vector<models::RankDigit>& digits, int begin, int end);

}  // namespace auspex::network
