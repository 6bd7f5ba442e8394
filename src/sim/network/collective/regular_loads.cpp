/// @file Loads of groups by rule from the flows of one block.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "sim/network/collective/flow_pattern.hpp"

namespace auspex::network {
namespace {

constexpr int kAnywhere = std::numeric_limits<int>::max();

using Digits = std::vector<models::RankDigit>;

bool are_below(const Digits& digits, int end) {
    return std::all_of(digits.begin(), digits.end(),
                       [&](const models::RankDigit& digit) { return digit.stride < end; });
}

bool are_from(const Digits& digits, int begin) {
    return std::all_of(digits.begin(), digits.end(),
                       [&](const models::RankDigit& digit) { return digit.stride >= begin; });
}

/// True if each number that the digits make is above the one before.
bool rise(const Digits& digits) {
    int reach = 0;
    return std::all_of(digits.rbegin(), digits.rend(), [&](const models::RankDigit& digit) {
        const bool is_above = digit.stride > reach;
        reach += (digit.count - 1) * digit.stride;
        return is_above;
    });
}

/// Blocks that members go to, q by q.
std::vector<int> blocks_of(const Digits& digits, int ranks_per_block) {
    std::vector<int> blocks = sums_of(digits, ranks_per_block, kAnywhere);
    for (int& block : blocks) {
        block /= ranks_per_block;
    }
    return blocks;
}

/// The q-th block's members send by `blocks` blocks on.
int block_after(StepShape shape, int q, int blocks, int count) {
    return shape == StepShape::kXor ? q ^ blocks : (q + blocks) % count;
}

}  // namespace

/// A flow that begins in the first block, for every group that begins at the same place of some block.
struct PatternBuilder::BlockFlow {
    int from, to;  ///< ranks after the group's first; `to` without the blocks
    int blocks;    ///< that it goes on, among those of the group
};

bool PatternBuilder::can_build(const PatternKey& key, const RegularGroups& groups) const {
    if (key.shares != 0) {
        return false;
    }
    const int n = static_cast<int>(groups.group_size());
    if (is_host_work(key.shape) || key.shape == StepShape::kPairs || are_below(groups.members, tiles_)) {
        return true;
    }
    if (key.shape == StepShape::kAllPairs) {
        return are_from(groups.members, tiles_) && rise(groups.members);
    }
    return is_permutation(key.shape, n) && key.distance > 0 && key.distance < n;
}

FlowPattern PatternBuilder::build(const PatternKey& key, const RegularGroups& groups) {
    FlowPattern pattern;
    pattern.key = key;
    pattern.ranks = groups.count() * groups.group_size();
    shares_ = {};
    template_tiles_.clear();
    const bool in_node = key.shape != StepShape::kPairs && are_below(groups.members, tiles_);
    if (is_host_work(key.shape) || in_node) {
        add_in_block(groups, key, pattern);
    } else if (key.shape == StepShape::kAllPairs) {
        add_block_exchange(groups, pattern);
    } else {
        add_block_flows(groups, key, pattern);
    }
    if (meets_in_host(pattern) && key.shape != StepShape::kPairs) {
        pattern.node_ranks =
            static_cast<int>(sums_of(groups.groups, 0, tiles_).size() * sums_of(groups.members, 0, tiles_).size());
    }
    pattern.loads = direct_loads();
    pattern.loads.stand_for(fabric_.alike_blocks());
    finish(pattern);
    return pattern;
}

/// Work of ranks, and flows that stay in nodes.
void PatternBuilder::add_in_block(const RegularGroups& groups, const PatternKey& key, FlowPattern& pattern) {
    const AlikeBlocks& alike = fabric_.alike_blocks();
    const std::vector<int> members = sums_of(groups.members, 0, alike.nodes * tiles_);
    std::vector<int> group(members.size());
    for (const int place : sums_of(groups.groups, 0, alike.nodes * tiles_)) {
        std::transform(members.begin(), members.end(), group.begin(),
                       [&](int member) { return groups.first + place + member; });
        is_host_work(key.shape) ? add_host_work(group, key.shape, pattern) : add_in_node(group, key, pattern);
    }
    pattern.flows *= alike.blocks;
}

/// Member i = q k + p lies at the p-th place of the group's q-th block. One at i + d is at place (p + d) mod k of the
/// block (p + d) / k later, and one at i xor d, with k a power of two, at p xor (d mod k) of the block q xor (d / k).
std::vector<PatternBuilder::BlockFlow> PatternBuilder::flows_of_block(const PatternKey& key,
                                                                      const RegularGroups& groups) const {
    if (key.shape == StepShape::kPairs) {
        return {{0, groups.members.front().stride, 0}};
    }
    const std::vector<int> places = sums_of(groups.members, 0, fabric_.alike_blocks().nodes * tiles_);
    const int k = static_cast<int>(places.size()), count = static_cast<int>(groups.group_size()) / k;
    std::vector<BlockFlow> flows;
    for (int p = 0; p < k; ++p) {
        const int to = key.shape == StepShape::kXor ? p ^ (key.distance % k) : (p + key.distance) % k;
        const int blocks = key.shape == StepShape::kXor ? key.distance / k : (p + key.distance) / k % count;
        flows.push_back({places[static_cast<std::size_t>(p)], places[static_cast<std::size_t>(to)], blocks});
    }
    return flows;
}

void PatternBuilder::add_block_flows(const RegularGroups& groups, const PatternKey& key, FlowPattern& pattern) {
    const AlikeBlocks& alike = fabric_.alike_blocks();
    const int ranks_per_block = alike.nodes * tiles_;
    const std::vector<BlockFlow> flows = flows_of_block(key, groups);
    const std::vector<int> blocks =
        key.shape == StepShape::kPairs ? std::vector<int>{0} : blocks_of(groups.members, ranks_per_block);
    // Groups that differ by their tiles alone, and keep to them, have the same flows between nodes.
    const bool bundles = std::all_of(flows.begin(), flows.end(), [&](const BlockFlow& flow) {
        return flow.from % tiles_ == 0 && flow.to % tiles_ == 0;
    });
    std::vector<int> tiles{groups.first % tiles_};
    if (bundles) {
        tiles = sums_of(groups.groups, 0, tiles_);
        std::transform(tiles.begin(), tiles.end(), tiles.begin(),
                       [&](int tile) { return tile + groups.first % tiles_; });
    }
    const Ends& ends = ends_of(tiles);
    const auto bundled = static_cast<double>(tiles.size());
    const bool first_node_is_enough = key.group == models::GroupKind::kWorld && bundles;
    std::map<int, double> by_blocks;
    bool is_first = true;
    for (const int place : sums_of(groups.groups, bundles ? tiles_ : 0, ranks_per_block)) {
        for (const BlockFlow& flow : flows) {
            const int from = groups.first + place + flow.from, in_block = groups.first + place + flow.to;
            const int to = in_block + blocks[static_cast<std::size_t>(flow.blocks)] * ranks_per_block;
            if (from / tiles_ != to / tiles_) {
                note_crossing(from, to, bundled, pattern);
                by_blocks[flow.blocks] += bundled;
                add_between_first_block(from, to, bundled, pattern);
            }
            if (bundles) {
                pattern.flows += bundled;
                if (is_first || !first_node_is_enough) {
                    in_nodes_.add(static_cast<std::uint32_t>(from / tiles_), ends.out, 1);
                    in_nodes_.add(
                        static_cast<std::uint32_t>((is_first && first_node_is_enough ? to : in_block) / tiles_),
                        ends.in, 1);
                }
            } else if (from / tiles_ == to / tiles_) {
                add_ends(from, to, 1, pattern);
            } else {
                pattern.flows += 1;
                in_nodes_.add(static_cast<std::uint32_t>(from / tiles_), out_[static_cast<std::size_t>(from % tiles_)],
                              1);
                in_nodes_.add(static_cast<std::uint32_t>(in_block / tiles_), in_[static_cast<std::size_t>(to % tiles_)],
                              1);
            }
            is_first = false;
        }
    }
    pattern.flows *= alike.blocks;
    for (FlowPattern::Wait& wait : pattern.waits) {
        wait.share *= alike.blocks;
    }
    add_pairs_of_blocks(groups, key, by_blocks);
}

/// Links of every block as in the first one, those of all blocks together for all, and none between two of them.
void PatternBuilder::add_between_first_block(int from, int to, double flows, FlowPattern& pattern) {
    const AlikeBlocks& alike = fabric_.alike_blocks();
    const int from_node = from / tiles_, to_node = to / tiles_;
    fabric_.route_between_nodes(from_node, from % tiles_, to_node, to % tiles_, route_);
    for (const Leg& leg : route_.legs) {
        const std::uint32_t link = alike.of_first_block(leg.link);
        if (alike.links_with(link) != nullptr) {
            between_[link - first_between_] += leg.weight * flows;
        } else if (!alike.is_pair(link)) {
            between_[link - first_between_] += leg.weight * flows * alike.blocks;
        }
    }
    note_latency(from, to, route_.latency_s, pattern);
}

/// `flows`: of one block, by how many blocks they go on; 0: they stay.
void PatternBuilder::add_pairs_of_blocks(const RegularGroups& groups, const PatternKey& key,
                                         const std::map<int, double>& flows) {
    const AlikeBlocks& alike = fabric_.alike_blocks();
    const int ranks_per_block = alike.nodes * tiles_;
    const std::vector<int> of_group = blocks_of(groups.members, ranks_per_block);
    const int count = static_cast<int>(of_group.size());
    for (const auto& [blocks, weight] : flows) {
        for (const int first : blocks_of(groups.groups, ranks_per_block)) {
            for (int q = 0; q < count && blocks != 0; ++q) {
                const int from = first + of_group[static_cast<std::size_t>(q)];
                const int to = first + of_group[static_cast<std::size_t>(block_after(key.shape, q, blocks, count))];
                const int pair = from * alike.blocks + to;
                between_[alike.first_pair + static_cast<std::uint32_t>(pair) - first_between_] += weight;
            }
        }
    }
}

/// As add_even_exchange() of every bundle.
void PatternBuilder::add_block_exchange(const RegularGroups& groups, FlowPattern& pattern) {
    const AlikeBlocks& alike = fabric_.alike_blocks();
    std::vector<int> tiles = sums_of(groups.groups, 0, tiles_);
    std::transform(tiles.begin(), tiles.end(), tiles.begin(), [&](int tile) { return tile + groups.first % tiles_; });
    const Ends& ends = ends_of(tiles);
    const std::vector<int> members = sums_of(groups.members, 0, kAnywhere);
    const double others = static_cast<double>(members.size()) - 1, bundled = static_cast<double>(tiles.size());
    const bool everywhere = pattern.key.group != models::GroupKind::kWorld;
    for (const int place : sums_of(groups.groups, tiles_, kAnywhere)) {
        std::vector<int> group;
        std::vector<double> on_switch;
        for (const int member : members) {
            const int rank = groups.first + place + member, node = rank / tiles_;
            const auto at = static_cast<std::size_t>(fabric_.attachment(node, rank % tiles_));
            on_switch.resize(std::max(on_switch.size(), at + 1), 0);
            on_switch[at] += 1;
            if (node < alike.nodes && (everywhere || group.empty())) {
                in_nodes_.add(static_cast<std::uint32_t>(node), ends.out, others);
                in_nodes_.add(static_cast<std::uint32_t>(node), ends.in, others);
            }
            group.push_back(rank);
        }
        fabric_.route_exchange(on_switch, false, route_);
        for (const Leg& leg : route_.legs) {
            if (alike.of_first_block(leg.link) == leg.link) {
                between_[leg.link - first_between_] += leg.weight * bundled;
            }
        }
        pattern.flows += others * static_cast<double>(group.size()) * bundled;
        note_exchange(group, static_cast<int>(others), pattern);
        const double latency_s = route_.latency_s;
        note_latency(group.front(), farthest_from_first(group, latency_s), latency_s, pattern);
    }
}

}  // namespace auspex::network
