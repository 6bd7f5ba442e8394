/// @file Digits cut at the ends of nodes and blocks.
#include "sim/network/collective/regular_groups.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/error.hpp"

namespace auspex::network {
namespace {

using models::RankDigit;
using Digits = std::vector<RankDigit>;

/// Cuts digits that go beyond `end`, the ranks of a node or a block, in two. False if they do not end there.
bool cut_at(Digits& digits, int end) {
    Digits cut;
    for (const RankDigit& digit : digits) {
        if (digit.stride >= end) {
            if (digit.stride % end != 0) {
                return false;
            }
            cut.push_back(digit);
        } else if (digit.count * digit.stride <= end) {
            cut.push_back(digit);
        } else {
            const int inside = end / digit.stride;
            if (end % digit.stride != 0 || digit.count % inside != 0) {
                return false;
            }
            cut.push_back({digit.count / inside, end});
            cut.push_back({inside, digit.stride});
        }
    }
    digits = std::move(cut);
    return true;
}

bool normalise(Digits& digits, const RankPlaces& at) {
    digits = models::joined(digits);
    return std::all_of(digits.begin(), digits.end(), [](const RankDigit& digit) { return digit.stride > 0; }) &&
           cut_at(digits, at.ranks_per_block) && cut_at(digits, at.tiles);
}

/// How far apart the ranks of digits with strides in [begin, end) can be.
int reach(const RegularGroups& groups, int begin, int end) {
    int sum = 0;
    for (const Digits* const digits : {&groups.groups, &groups.members}) {
        for (const RankDigit& digit : *digits) {
            sum += digit.stride >= begin && digit.stride < end ? (digit.count - 1) * digit.stride : 0;
        }
    }
    return sum;
}

/// Every choice of the other digits goes to every block, once.
bool takes_every_block(const RegularGroups& groups, const RankPlaces& at) {
    Digits across;
    for (const Digits* const digits : {&groups.groups, &groups.members}) {
        std::copy_if(digits->begin(), digits->end(), std::back_inserter(across),
                     [&](const RankDigit& digit) { return digit.stride >= at.ranks_per_block; });
    }
    std::sort(across.begin(), across.end(), [](const RankDigit& a, const RankDigit& b) { return a.stride < b.stride; });
    int next = at.ranks_per_block;
    for (const RankDigit& digit : across) {
        if (digit.stride != next) {
            return false;
        }
        next *= digit.count;
    }
    return next == at.ranks_per_block * at.blocks;
}

bool lies_well(const RegularGroups& groups, const RankPlaces& at) {
    const int tile = groups.first % at.tiles, node_begin = groups.first - tile;
    return groups.first < at.ranks_per_block && tile + reach(groups, 0, at.tiles) < at.tiles &&
           node_begin + reach(groups, at.tiles, at.ranks_per_block) < at.ranks_per_block &&
           std::is_partitioned(groups.members.begin(), groups.members.end(),
                               [&](const RankDigit& digit) { return digit.stride >= at.ranks_per_block; }) &&
           takes_every_block(groups, at);
}

std::size_t product(const Digits& digits, int from_stride = 0) {
    std::size_t count = 1;
    for (const RankDigit& digit : digits) {
        count *= digit.stride >= from_stride ? static_cast<std::size_t>(digit.count) : 1;
    }
    return count;
}

/// Moves member digits to the groups: those of a place each make a group (`within`), or those of all places do.
RegularGroups split(const RegularGroups& whole, int place, bool within, const RankPlaces& at) {
    RegularGroups parts{whole.first, whole.groups, {}};
    for (const RankDigit& digit : whole.members) {
        ((digit.stride >= place) == within ? parts.groups : parts.members).push_back(digit);
    }
    AUSPEX_CHECK(normalise(parts.groups, at) && normalise(parts.members, at), "digits that are cut stay so");
    return parts;
}

}  // namespace

RankPlaces rank_places(const Fabric& fabric) {
    const AlikeBlocks& alike = fabric.alike_blocks();
    return {fabric.tiles_per_node(), alike.nodes * fabric.tiles_per_node(), alike.blocks};
}

std::size_t RegularGroups::count() const { return product(groups); }
std::size_t RegularGroups::group_size() const { return product(members); }

std::optional<RegularGroups> regular_groups(const models::RankFamily& family, bool pairs, const RankPlaces& at) {
    RegularGroups found{family.first, family.groups, pairs ? Digits() : family.members};
    if (at.ranks_per_block == 0 || !normalise(found.groups, at) || !normalise(found.members, at) ||
        !lies_well(found, at)) {
        return {};
    }
    if (pairs) {
        const int distance = family.members.front().stride, end = at.ranks_per_block * at.blocks;
        const int lowest = found.first + std::min(distance, 0);
        const int highest = found.first + reach(found, 0, at.ranks_per_block) + std::max(distance, 0);
        if (family.members.size() != 1 || lowest < 0 || highest >= std::min(end, at.ranks_per_block)) {
            return {};  // they leave the block
        }
        found.members = family.members;
    }
    return found;
}

RegularGroups regular_subgroups(const RegularGroups& groups, Level level, const RankPlaces& at) {
    switch (level) {
        case Level::kFlat:
        case Level::kByHost: break;
        case Level::kIntraNode: return split(groups, at.tiles, true, at);
        case Level::kInterNode: return split(groups, at.tiles, false, at);
        case Level::kIntraBlock: return split(split(groups, at.tiles, false, at), at.ranks_per_block, true, at);
        case Level::kInterBlock: return split(split(groups, at.tiles, false, at), at.ranks_per_block, false, at);
    }
    return groups;
}

std::optional<GroupForm> form_of_regular(const RegularGroups& groups, bool pairs, const RankPlaces& at) {
    if (pairs) {
        const int distance = groups.members.front().stride, tile = groups.first % at.tiles;
        if (distance % at.tiles == 0) {
            return GroupForm{2, 2, 1, 1, 2};
        }
        const int reached = reach(RegularGroups{groups.first, groups.groups, {}}, 0, at.tiles);
        const bool stays = tile + std::min(distance, 0) >= 0 && tile + reached + std::max(distance, 0) < at.tiles;
        return stays ? std::optional(GroupForm{2, 1, 2, 1, 1}) : std::nullopt;
    }
    const std::size_t ranks = groups.group_size(), nodes = product(groups.members, at.tiles);
    const std::size_t blocks = product(groups.members, at.ranks_per_block);
    return GroupForm{static_cast<int>(ranks), static_cast<int>(nodes), static_cast<int>(ranks / nodes),
                     static_cast<int>(blocks), static_cast<int>(nodes / blocks)};
}

std::vector<int> sums_of(const std::vector<RankDigit>& digits, int begin, int end) {
    std::vector<int> sums{0};
    for (const RankDigit& digit : digits) {
        if (std::abs(digit.stride) < begin || std::abs(digit.stride) >= end) {
            continue;
        }
        std::vector<int> longer;
        for (const int sum : sums) {
            for (int i = 0; i < digit.count; ++i) {
                longer.push_back(sum + i * digit.stride);
            }
        }
        sums = std::move(longer);
    }
    return sums;
}

}  // namespace auspex::network
