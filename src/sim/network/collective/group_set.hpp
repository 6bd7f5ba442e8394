#pragma once
/// @file Groups of ranks as flat arrays, how they lie on nodes and blocks, and the subgroups that a level takes.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/collective/step_shape.hpp"
#include "sim/network/fabric/fabric.hpp"

namespace auspex::network {

/// Groups of ranks one after the other: group g is ranks[begin[g] .. begin[g + 1]).
struct GroupSet {
    std::vector<int> ranks;
    std::vector<std::uint32_t> begin{0};
    [[nodiscard]] std::size_t count() const { return begin.size() - 1; }
    [[nodiscard]] std::span<const int> group(std::size_t g) const {
        return std::span(ranks).subspan(begin[g], begin[g + 1] - begin[g]);
    }
    bool operator==(const GroupSet&) const = default;
};

/// How a group lies on nodes. Equal for all siblings, or `per_node` is 0 (`per_block` where only blocks differ).
struct GroupForm {
    int ranks = 1;
    int nodes = 1;
    int per_node = 1;   ///< 0: not the same number on every node
    int blocks = 1;     ///< dragonfly groups, leaves or units that its nodes lie in
    int per_block = 1;  ///< nodes; 0: not the same number in every block
    bool operator==(const GroupForm&) const = default;
};

[[nodiscard]] GroupSet flatten(const std::vector<std::vector<int>>& groups);
/// One group after the other, `size` ranks each.
[[nodiscard]] GroupSet equal_groups(std::vector<int> ranks, int size);
/// The subgroups of a level. Requires equally many ranks on each node for kInterNode, kIntraBlock and kInterBlock, and
/// equally many nodes in each block for kInterBlock.
[[nodiscard]] GroupSet subgroups(const GroupSet& groups, Level level, const Fabric& fabric);
[[nodiscard]] GroupForm form_of(const GroupSet& groups, const Fabric& fabric);
/// Of groups {from, to}: on two nodes if any is.
[[nodiscard]] GroupForm form_of_pairs(const GroupSet& pairs, const Fabric& fabric);

}  // namespace auspex::network
