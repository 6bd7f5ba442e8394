/// @file Groups split by node and by block, both in the order in which a group first names them.
#include "sim/network/collective/group_set.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"

namespace auspex::network {
namespace {

/// Ranks of a group by location (node or block), in the order of first mention.
template <class LocationOf>
std::vector<std::vector<int>> split(std::span<const int> group, LocationOf&& location_of) {
    std::vector<std::vector<int>> parts;
    std::map<int, std::size_t> part_of_location;
    int last = -1;
    std::size_t part = 0;
    for (const int rank : group) {
        if (const int location = location_of(rank); location != last) {
            const auto [found, is_new] = part_of_location.try_emplace(location, parts.size());
            if (is_new) {
                parts.emplace_back();
            }
            last = location;
            part = found->second;
        }
        parts[part].push_back(rank);
    }
    return parts;
}

/// Ranks at each location if the group visits its locations one after the other by rising number, equally many at each;
/// else 0. Two locations may come in any order.
template <class LocationOf>
std::size_t even_run(std::span<const int> group, LocationOf&& location_of) {
    std::size_t run = 1;
    while (run < group.size() && location_of(group[run]) == location_of(group.front())) {
        ++run;
    }
    if (group.size() % run != 0) {
        return 0;
    }
    for (std::size_t first = 0; first < group.size(); first += run) {
        const int location = location_of(group[first]);
        const bool is_new = first == 0 || location_of(group[first - 1]) < location || group.size() == 2 * run;
        for (std::size_t i = first + 1; i < first + run; ++i) {
            if (location_of(group[i]) != location) {
                return 0;
            }
        }
        if (!is_new) {
            return 0;
        }
    }
    return run;
}

/// How many locations a group has, and how many of its ranks each holds; 0: not equally many.
struct Spread {
    int units = 1, ranks_per_unit = 1;
};

template <class LocationOf>
Spread spread_of(std::span<const int> group, LocationOf&& location_of) {
    if (const std::size_t run = even_run(group, location_of); run > 0) {
        return {static_cast<int>(group.size() / run), static_cast<int>(run)};
    }
    const std::vector<std::vector<int>> parts = split(group, location_of);
    const std::size_t first = parts.front().size();
    const bool even = std::all_of(parts.begin(), parts.end(), [&](const auto& part) { return part.size() == first; });
    return {static_cast<int>(parts.size()), even ? static_cast<int>(first) : 0};
}

void close(GroupSet& set) { set.begin.push_back(static_cast<std::uint32_t>(set.ranks.size())); }

/// Subgroups of ranks that share a location.
template <class LocationOf>
void append_within(std::span<const int> group, LocationOf&& location_of, GroupSet& set) {
    if (const std::size_t run = even_run(group, location_of); run > 0) {
        for (std::size_t i = 0; i < group.size(); ++i) {
            set.ranks.push_back(group[i]);
            if ((i + 1) % run == 0) {
                close(set);
            }
        }
        return;
    }
    for (const std::vector<int>& part : split(group, location_of)) {
        set.ranks.insert(set.ranks.end(), part.begin(), part.end());
        close(set);
    }
}

/// Subgroups of the i-th ranks of every location.
template <class LocationOf>
void append_across(std::span<const int> group, LocationOf&& location_of, GroupSet& set) {
    if (const std::size_t run = even_run(group, location_of); run > 0) {
        for (std::size_t i = 0; i < run; ++i) {
            for (std::size_t first = 0; first < group.size(); first += run) {
                set.ranks.push_back(group[first + i]);
            }
            close(set);
        }
        return;
    }
    const std::vector<std::vector<int>> parts = split(group, location_of);
    for (std::size_t i = 0; i < parts.front().size(); ++i) {
        for (const std::vector<int>& part : parts) {
            AUSPEX_CHECK(part.size() == parts.front().size(), "levels need equally many ranks at every place");
            set.ranks.push_back(part[i]);
        }
        close(set);
    }
}

/// Places of ranks on a fabric.
struct RankUnits {
    const Fabric& fabric;
    [[nodiscard]] auto node() const {
        return [tiles = fabric.tiles_per_node()](int rank) { return rank / tiles; };
    }
    [[nodiscard]] auto block() const {
        return [&on = fabric, tiles = fabric.tiles_per_node()](int rank) { return on.block(rank / tiles); };
    }
};

GroupForm form_of_one(std::span<const int> group, const RankUnits& at) {
    const Spread nodes = spread_of(group, at.node()), blocks = spread_of(group, at.block());
    GroupForm form{static_cast<int>(group.size()), nodes.units, nodes.ranks_per_unit, blocks.units, 0};
    form.per_block = nodes.ranks_per_unit > 0 ? blocks.ranks_per_unit / nodes.ranks_per_unit : 0;
    return form;
}

}  // namespace

GroupSet flatten(const std::vector<std::vector<int>>& groups) {
    GroupSet set;
    for (const std::vector<int>& group : groups) {
        set.ranks.insert(set.ranks.end(), group.begin(), group.end());
        close(set);
    }
    return set;
}

GroupSet equal_groups(std::vector<int> ranks, int size) {
    GroupSet set;
    set.ranks = std::move(ranks);
    set.begin.reserve(set.ranks.size() / static_cast<std::size_t>(size) + 1);
    while (set.begin.back() < set.ranks.size()) {
        set.begin.push_back(set.begin.back() + static_cast<std::uint32_t>(size));
    }
    return set;
}

GroupForm form_of(const GroupSet& groups, const Fabric& fabric) {
    const RankUnits at{fabric};
    GroupForm form = form_of_one(groups.group(0), at);
    for (std::size_t g = 1; g < groups.count(); ++g) {
        const GroupForm other = form_of_one(groups.group(g), at);
        AUSPEX_CHECK(other.ranks == form.ranks, "sibling groups have the same size");
        if (other.nodes != form.nodes || other.per_node != form.per_node) {
            form.per_node = 0;
        }
        if (form.per_node == 0 || other.blocks != form.blocks || other.per_block != form.per_block) {
            form.per_block = 0;
        }
        form.nodes = std::max(form.nodes, other.nodes);
        form.blocks = std::max(form.blocks, other.blocks);
    }
    return form;
}

GroupForm form_of_pairs(const GroupSet& pairs, const Fabric& fabric) {
    const int tiles = fabric.tiles_per_node();
    for (std::size_t i = 0; i + 1 < pairs.ranks.size(); i += 2) {
        if (pairs.ranks[i] / tiles != pairs.ranks[i + 1] / tiles) {
            return {2, 2, 1, 1, 2};
        }
    }
    return {2, 1, 2, 1, 1};
}

GroupSet subgroups(const GroupSet& groups, Level level, const Fabric& fabric) {
    if (level == Level::kFlat || level == Level::kByHost) {
        return groups;
    }
    const RankUnits at{fabric};
    if (level == Level::kIntraBlock || level == Level::kInterBlock) {
        const GroupSet outer = subgroups(groups, Level::kInterNode, fabric);
        GroupSet set;
        for (std::size_t g = 0; g < outer.count(); ++g) {
            level == Level::kIntraBlock ? append_within(outer.group(g), at.block(), set)
                                        : append_across(outer.group(g), at.block(), set);
        }
        return set;
    }
    GroupSet set;
    set.ranks.reserve(groups.ranks.size());
    for (std::size_t g = 0; g < groups.count(); ++g) {
        level == Level::kIntraNode ? append_within(groups.group(g), at.node(), set)
                                   : append_across(groups.group(g), at.node(), set);
    }
    return set;
}

}  // namespace auspex::network
