/// @file Loads of patterns in which every member sends to every other, by counts.
#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "sim/network/collective/flow_pattern.hpp"

namespace auspex::network {

/// Each rank sends flows out of its node to all ranks elsewhere, and receives as many.
void PatternBuilder::add_pairs_of_nodes(std::span<const int> group, FlowPattern& pattern) {
    std::map<int, std::vector<std::size_t>> by_node;
    double all_shares = 0;
    int most_elsewhere = 0;
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
        most_elsewhere = std::max(most_elsewhere, static_cast<int>(elsewhere));
        pattern.flows += static_cast<double>(members.size()) * (all_shares - here);
        for (const std::size_t i : members) {
            const auto tile = static_cast<std::size_t>(group[i] - node * tiles_);
            in_nodes_.add(static_cast<std::uint32_t>(node), out_[tile], all_shares - here);
            in_nodes_.add(static_cast<std::uint32_t>(node), in_[tile], share(i) * elsewhere);
            for (const std::size_t j : members) {
                if (j != i) {
                    add_ends(group[i], group[j], share(j), pattern);
                }
            }
        }
    }
    note_exchange(group, most_elsewhere, pattern);
}

/// Of an exchange in which a rank sends so many messages out of its node. Most leave a dragonfly group from the one
/// with the fewest members, and most go to other switches of a group from the one of its switches with the fewest.
void PatternBuilder::note_exchange(std::span<const int> group, int messages, FlowPattern& pattern) const {
    std::map<int, std::map<int, int>> on_switch_of;
    for (const int rank : group) {
        const int node = rank / tiles_;
        ++on_switch_of[fabric_.block(node)][fabric_.attachment(node, rank - node * tiles_)];
    }
    int to_switches = 0, to_groups = 0;
    for (const auto& [block, on_switch] : on_switch_of) {
        int here = 0, fewest = static_cast<int>(group.size());
        for (const auto& [id, members] : on_switch) {
            here += members;
            fewest = std::min(fewest, members);
        }
        to_switches = std::max(to_switches, here - fewest);
        to_groups = std::max(to_groups, static_cast<int>(group.size()) - here);
    }
    pattern.messages = std::max(pattern.messages, messages);
    const auto note = [&](DetourLevel level, int count) {
        int& most = pattern.waits[static_cast<std::size_t>(level)].messages;
        most = std::max(most, count);
    };
    note(DetourLevel::kSwitches, to_switches);
    note(DetourLevel::kGroups, to_groups);
}

/// An even exchange whose members lie on a node each and on switches that the fabric sums up: as many out of every
/// node as into it, n - 1. All numbers are whole, so that no order of adding them matters. False if it is none.
bool PatternBuilder::add_even_exchange(const GroupSet& groups, std::size_t first, std::size_t end,
                                       FlowPattern& pattern) {
    const std::span<const int> group = groups.group(first);
    const bool on_a_node_each = std::adjacent_find(group.begin(), group.end(), [&](int a, int b) {
                                    return a / tiles_ >= b / tiles_;
                                }) == group.end();
    if (!shares_.empty() || !fabric_.sums_exchanges() || !on_a_node_each) {
        return false;
    }
    const Ends* const ends = sum_ends(groups, first, end);
    if (ends == nullptr) {
        return false;
    }
    const double others = static_cast<double>(group.size()) - 1, bundled = static_cast<double>(end - first);
    const bool everywhere = pattern.key.group != models::GroupKind::kWorld;
    std::vector<double> members;
    for (const int rank : group) {
        const int node = rank / tiles_;
        const auto at = static_cast<std::size_t>(fabric_.attachment(node, rank - node * tiles_));
        members.resize(std::max(members.size(), at + 1), 0);
        members[at] += 1;
        if (everywhere || rank == group.front()) {  // else the first node stands for all
            in_nodes_.add(static_cast<std::uint32_t>(node), ends->out, others);
            in_nodes_.add(static_cast<std::uint32_t>(node), ends->in, others);
        }
    }
    fabric_.route_exchange(members, everywhere, route_);
    for (const Leg& leg : route_.legs) {
        between_[leg.link - first_between_] += leg.weight * bundled;
    }
    pattern.flows += others * static_cast<double>(group.size()) * bundled;
    note_exchange(group, static_cast<int>(others), pattern);
    const double latency_s = route_.latency_s;
    note_latency(group.front(), farthest_from_first(group, latency_s), latency_s, pattern);
    return true;
}

/// A member to which the first one's route is the slowest of the exchange.
int PatternBuilder::farthest_from_first(std::span<const int> group, double latency_s) {
    const int from = group.front(), from_node = from / tiles_;
    const auto found = std::find_if(group.rbegin(), group.rend(), [&](int to) {
        fabric_.route_between_nodes(from_node, from - from_node * tiles_, to / tiles_, to % tiles_, route_);
        return route_.latency_s == latency_s;
    });
    AUSPEX_CHECK(found != group.rend(), "every switch and group is as far from all others");
    return *found;
}

/// A pair of switches carries the product of the senders on one and the shares of the receivers on the other, less the
/// pairs in one node. n ranks make n^2 flows, but the loads take only the pairs in a node and the pairs of switches.
void PatternBuilder::add_all_pairs(const GroupSet& groups, std::size_t first, std::size_t end, FlowPattern& pattern) {
    if (add_even_exchange(groups, first, end, pattern)) {
        return;
    }
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

}  // namespace auspex::network
