/// @file Loads of a pattern: flow by flow between nodes, once per arrangement of tiles inside them, by counts for all
/// pairs.
#include "sim/network/collective/flow_pattern.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "base/mix64.hpp"
#include "sim/network/collective/detour_loads.hpp"

namespace auspex::network {
namespace {

/// Tells lists of loads apart.
std::uint64_t hash_of(LoadList loads) {
    std::uint64_t hash = loads.size();
    for (const LinkLoad& on : loads) {
        hash = mix64(hash ^ (std::bit_cast<std::uint64_t>(on.load) + on.link));
    }
    return hash;
}

bool are_equal(LoadList a, LoadList b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const LinkLoad& one, const LinkLoad& other) {
        return one.link == other.link && one.load == other.load;
    });
}

}  // namespace

PatternBuilder::PatternBuilder(const Fabric& fabric)
    : fabric_(fabric),
      tiles_(fabric.tiles_per_node()),
      one_switch_a_node_(fabric.depends_on_attachment_only()),
      load_(fabric.link_count()) {
    for (int tile = 1; tile < tiles_; ++tile) {
        one_switch_a_node_ = one_switch_a_node_ && fabric.attachment(0, tile) == fabric.attachment(0, 0);
    }
}

void PatternBuilder::add(std::uint32_t link, double weight) { load_[link] += weight; }

void PatternBuilder::add_slots(int node, std::span<const std::uint32_t> slots, double weight) {
    const std::uint32_t first = fabric_.first_link(node);
    for (const std::uint32_t slot : slots) {
        add(first + slot, weight);
    }
}

void PatternBuilder::add_slot_loads(int node, std::span<const LinkLoad> slots, double weight) {
    const std::uint32_t first = fabric_.first_link(node);
    for (const LinkLoad& slot : slots) {
        add(first + slot.link, slot.load * weight);
    }
}

FlowPattern PatternBuilder::build(const PatternKey& key, const GroupSet& groups, std::span<const double> shares) {
    FlowPattern pattern;
    pattern.key = key;
    pattern.ranks = groups.ranks.size();
    shares_ = shares;
    template_tiles_.clear();
    for (std::size_t first = 0; first < groups.count();) {
        const std::size_t end = end_of_bundle(groups, first);
        add_bundle(groups, first, end, key, pattern);
        first = end;
    }
    collect(pattern);
    return pattern;
}

/// Groups on the same nodes, index by index, have the same flows between nodes.
std::size_t PatternBuilder::end_of_bundle(const GroupSet& groups, std::size_t first) const {
    const std::span<const int> group = groups.group(first);
    const auto same_node = [&](int a, int b) { return a / tiles_ == b / tiles_; };
    std::size_t end = first + 1;
    while (one_switch_a_node_ && end < groups.count() &&
           std::equal(group.begin(), group.end(), groups.group(end).begin(), groups.group(end).end(), same_node)) {
        ++end;
    }
    return end;
}

/// Finds the sums over the tiles of a bundle. False if they differ from node to node.
bool PatternBuilder::sum_ends(const GroupSet& groups, std::size_t first, std::size_t end) {
    std::vector<int> tiles;
    for (std::size_t g = first; g < end; ++g) {
        const std::span<const int> group = groups.group(g);
        tiles.push_back(group.front() % tiles_);
        if (!std::all_of(group.begin(), group.end(), [&](int rank) { return rank % tiles_ == tiles.back(); })) {
            return false;
        }
    }
    if (tiles == ends_.tiles) {
        return true;
    }
    ends_.tiles = tiles;
    const auto sum = [&](auto&& slots_of, std::vector<LinkLoad>& sums) {
        std::map<std::uint32_t, double> by_slot;
        for (const int tile : tiles) {
            for (const std::uint32_t slot : slots_of(tile)) {
                by_slot[slot] += 1;
            }
        }
        sums.clear();
        for (const auto& [slot, load] : by_slot) {
            sums.push_back({slot, load});
        }
    };
    sum([&](int tile) { return fabric_.slots_out(tile); }, ends_.out);
    sum([&](int tile) { return fabric_.slots_in(tile); }, ends_.in);
    return true;
}

void PatternBuilder::add_bundle(const GroupSet& groups, std::size_t first, std::size_t end, const PatternKey& key,
                                FlowPattern& pattern) {
    const std::span<const int> group = groups.group(first);
    const int n = static_cast<int>(group.size()), node = group.front() / tiles_;
    const bool in_node = std::all_of(group.begin(), group.end(), [&](int rank) { return rank / tiles_ == node; });
    const bool at_host = is_host_work(key.shape);
    if (key.shape == StepShape::kAllPairs && fabric_.depends_on_attachment_only() && !in_node) {
        add_all_pairs(groups, first, end, pattern);
        return;
    }
    if (at_host || in_node) {
        for (std::size_t g = first; g < end; ++g) {
            at_host ? add_host_work(groups.group(g), key.shape, pattern) : add_in_node(groups.group(g), key, pattern);
        }
        return;
    }
    if (key.shape == StepShape::kRings) {
        for (std::size_t g = first; g < end; ++g) {
            add_rings(groups.group(g), key.distance, pattern);
        }
        return;
    }
    std::vector<int> messages(group.size(), 0);
    const bool is_uniform = sum_ends(groups, first, end);
    // Where every node sends and receives the same and loads are not kept, the first node stands for all.
    const bool first_node_is_enough =
        key.group == models::GroupKind::kWorld && is_uniform && is_permutation(key.shape, n);
    for_each_pair(key.shape, key.distance, n, [&](int i, int j) {
        const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(j);
        const int from_node = group[from] / tiles_, to_node = group[to] / tiles_;
        if (from_node != to_node) {
            ++messages[from];
            add_inter_node_flow(group[from], group[to], share(to) * static_cast<double>(end - first), pattern);
            if (is_uniform) {
                pattern.flows += share(to) * static_cast<double>(end - first);
                if (first_node_is_enough && i > 0) {
                    return;
                }
                add_slot_loads(from_node, ends_.out, share(to));
                add_slot_loads(to_node, ends_.in, share(to));
                return;
            }
        }
        for (std::size_t g = first; g < end; ++g) {
            add_ends(groups.group(g)[from], groups.group(g)[to], share(to), pattern);
        }
    });
    pattern.messages = std::max(pattern.messages, *std::max_element(messages.begin(), messages.end()));
}

void PatternBuilder::add_host_work(std::span<const int> group, StepShape shape, FlowPattern& pattern) {
    for (const int rank : group) {
        const int node = rank / tiles_, tile = rank - node * tiles_;
        add_slots(node,
                  shape == StepShape::kToHost     ? fabric_.slots_to_host(tile)
                  : shape == StepShape::kFromHost ? fabric_.slots_from_host(tile)
                                                  : fabric_.slots_in_host(tile),
                  1);
        pattern.flows += 1;
    }
    pattern.latency_s = std::max(pattern.latency_s, fabric_.node_latency_s());
}

/// Rings go from node to node, whatever the order of the group's ranks.
void PatternBuilder::add_rings(std::span<const int> group, int rings, FlowPattern& pattern) {
    std::vector<int> by_node(group.begin(), group.end());
    std::stable_sort(by_node.begin(), by_node.end(), [&](int a, int b) { return a / tiles_ < b / tiles_; });
    for_each_pair(StepShape::kRings, rings, static_cast<int>(by_node.size()), [&](int i, int j) {
        const int from = by_node[static_cast<std::size_t>(i)], to = by_node[static_cast<std::size_t>(j)];
        if (from / tiles_ != to / tiles_) {
            add_inter_node_flow(from, to, 1, pattern);
            pattern.messages = std::max(pattern.messages, 1);  // each ring leaves a node at another rank
        }
        add_ends(from, to, 1, pattern);
    });
}

void PatternBuilder::add_in_node(std::span<const int> group, const PatternKey& key, FlowPattern& pattern) {
    const int n = static_cast<int>(group.size()), node = group.front() / tiles_;
    const bool known = std::equal(group.begin(), group.end(), template_tiles_.begin(), template_tiles_.end(),
                                  [&](int rank, int tile) { return rank - node * tiles_ == tile; });
    if (!known) {
        std::map<std::uint32_t, double> loads;
        template_tiles_.clear();
        for (const int rank : group) {
            template_tiles_.push_back(rank - node * tiles_);
        }
        template_flows_ = 0;
        for_each_pair(key.shape, key.distance, n, [&](int i, int j) {
            const auto to = static_cast<std::size_t>(j);
            const int from_tile = template_tiles_[static_cast<std::size_t>(i)], to_tile = template_tiles_[to];
            for (const std::uint32_t slot : fabric_.slots_between(from_tile, to_tile)) {
                loads[slot] += share(to);
            }
            template_flows_ += share(to);
        });
        template_loads_.clear();
        for (const auto& [slot, load] : loads) {
            template_loads_.push_back({slot, load});
        }
    }
    if (!known || key.group != models::GroupKind::kWorld) {  // loads are not kept there: the first node stands for all
        add_slot_loads(node, template_loads_, 1);
    }
    pattern.flows += template_flows_;
    if (template_flows_ > 0) {
        pattern.latency_s = std::max(pattern.latency_s, fabric_.node_latency_s());
    }
}

/// `from` and `to` are ranks whose NICs stand for all flows.
void PatternBuilder::add_inter_node_flow(int from, int to, double flows, FlowPattern& pattern) {
    const int from_node = from / tiles_, to_node = to / tiles_;
    fabric_.route_between_nodes(from_node, from - from_node * tiles_, to_node, to - to_node * tiles_, route_);
    for (const Leg& leg : route_.legs) {
        add(leg.link, leg.weight * flows);
    }
    pattern.latency_s = std::max(pattern.latency_s, route_.latency_s);
    pattern.leaves_node = true;
}

/// What a flow takes inside nodes.
void PatternBuilder::add_ends(int from, int to, double weight, FlowPattern& pattern) {
    const int from_node = from / tiles_, to_node = to / tiles_;
    const int from_tile = from - from_node * tiles_, to_tile = to - to_node * tiles_;
    pattern.flows += weight;
    if (from_node == to_node) {
        add_slots(from_node, fabric_.slots_between(from_tile, to_tile), weight);
        pattern.latency_s = std::max(pattern.latency_s, fabric_.node_latency_s());
        return;
    }
    add_slots(from_node, fabric_.slots_out(from_tile), weight);
    add_slots(to_node, fabric_.slots_in(to_tile), weight);
}

/// Each rank sends flows out of its node to all ranks elsewhere, and receives as many.
void PatternBuilder::add_pairs_of_nodes(std::span<const int> group, FlowPattern& pattern) {
    std::map<int, std::vector<std::size_t>> by_node;
    double all_shares = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
        by_node[group[i] / tiles_].push_back(i);
        all_shares += share(i);
    }
    for (const auto& [node, members] : by_node) {
        double here = 0;
        for (const std::size_t i : members) {
            here += share(i);
        }
        const double elsewhere = static_cast<double>(group.size() - members.size());
        pattern.messages = std::max(pattern.messages, static_cast<int>(elsewhere));
        pattern.flows += static_cast<double>(members.size()) * (all_shares - here);
        for (const std::size_t i : members) {
            const int tile = group[i] - node * tiles_;
            add_slots(node, fabric_.slots_out(tile), all_shares - here);
            add_slots(node, fabric_.slots_in(tile), share(i) * elsewhere);
            for (const std::size_t j : members) {
                if (j != i) {
                    add_ends(group[i], group[j], share(j), pattern);
                }
            }
        }
    }
}

/// A pair of switches carries the product of the senders on one and the shares of the receivers on the other, less the
/// pairs in one node. n ranks make n^2 flows, but the loads take only the pairs in a node and the pairs of switches.
void PatternBuilder::add_all_pairs(const GroupSet& groups, std::size_t first, std::size_t end, FlowPattern& pattern) {
    for (std::size_t g = first; g < end; ++g) {
        add_pairs_of_nodes(groups.group(g), pattern);
    }
    struct Attached {
        int first = -1, last = -1;  ///< ranks that hang there
        double senders = 0, shares = 0;
        std::map<int, std::pair<double, double>> by_node;  ///< senders and shares
    };
    const std::span<const int> group = groups.group(first);
    std::map<int, Attached> by_switch;
    for (std::size_t i = 0; i < group.size(); ++i) {
        const int node = group[i] / tiles_;
        Attached& at = by_switch[fabric_.attachment(node, group[i] - node * tiles_)];
        at.first = at.first < 0 ? group[i] : at.first;
        at.last = group[i];
        at.senders += 1;
        at.shares += share(i);
        at.by_node[node].first += 1;
        at.by_node[node].second += share(i);
    }
    std::map<int, std::vector<const Attached*>> of_node;
    for (const auto& [id, at] : by_switch) {
        for (const auto& [node, senders_and_shares] : at.by_node) {
            of_node[node].push_back(&at);
        }
    }
    std::map<const Attached*, double> in_nodes;  ///< by receiver's switch: pairs of this sender's switch in one node
    for (const auto& [id, from] : by_switch) {
        in_nodes.clear();
        for (const auto& [node, senders_and_shares] : from.by_node) {
            for (const Attached* const to : of_node[node]) {
                in_nodes[to] += senders_and_shares.first * to->by_node.at(node).second;
            }
        }
        for (const auto& [other_id, to] : by_switch) {
            const auto inside = in_nodes.find(&to);
            const double flows = from.senders * to.shares - (inside == in_nodes.end() ? 0 : inside->second);
            const int sender = from.first / tiles_ != to.last / tiles_ ? from.first : from.last;
            const int receiver = sender / tiles_ != to.last / tiles_ ? to.last : to.first;
            if (sender / tiles_ != receiver / tiles_ && flows > 0) {
                add_inter_node_flow(sender, receiver, flows * static_cast<double>(end - first), pattern);
            }
        }
    }
}

/// Takes the loads node by node, those between nodes last, and finds the link that binds.
void PatternBuilder::collect(FlowPattern& pattern) {
    const std::uint32_t links_per_node = fabric_.links_per_node();
    const std::uint32_t end_of_nodes = fabric_.first_link(fabric_.nodes());
    const bool kept = pattern.key.group != models::GroupKind::kWorld;
    pattern.loads = PatternLoads(links_per_node);
    pattern.solo_rate = std::numeric_limits<double>::infinity();
    part_of_hash_.clear();
    part_.clear();
    std::uint32_t node = 0, first = 0, end = links_per_node;  // links of the part in hand
    const auto leave_part = [&] {
        if (kept && !part_.empty()) {
            keep_part(node, pattern.loads);
        }
        part_.clear();
    };
    load_.drain([&](std::uint32_t link, double load) {
        if (link >= end) {
            leave_part();
            const bool in_node = link < end_of_nodes;
            node = in_node ? link / links_per_node : PatternLoads::kBetweenNodes;
            first = in_node ? node * links_per_node : 0;
            end = in_node ? first + links_per_node : kNoLink;
        }
        part_.push_back({link - first, load});
        const double capacity = fabric_.capacity_bytes_per_s(link);
        if (capacity < pattern.solo_rate * load) {
            pattern.solo_rate = capacity / load;
            pattern.bottleneck = link;
        }
    });
    if (node != PatternLoads::kBetweenNodes) {
        leave_part();
    }
    const DetourBound bound = add_detours(fabric_, part_, pattern.solo_rate);
    if (bound.link != kNoLink) {
        pattern.solo_rate = bound.rate;
        pattern.bottleneck = bound.link;
    }
    leave_part();
}

/// Most nodes of a pattern have the same loads.
void PatternBuilder::keep_part(std::uint32_t node, PatternLoads& loads) {
    const auto [found, is_new] = part_of_hash_.try_emplace(hash_of(part_), loads.parts().size());
    if (!is_new && are_equal(loads.loads(loads.parts()[found->second]), part_)) {
        loads.repeat(node, found->second);
    } else {
        loads.add(node, part_);
    }
}

}  // namespace auspex::network
