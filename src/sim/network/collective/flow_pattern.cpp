/// @file Loads of a pattern: flow by flow between nodes, once per arrangement of tiles inside them, by counts for all
/// pairs.
#include "sim/network/collective/flow_pattern.hpp"

#include <algorithm>
#include <map>

namespace auspex::network {
PatternBuilder::PatternBuilder(const Fabric& fabric)
    : fabric_(fabric),
      tiles_(fabric.tiles_per_node()),
      one_switch_a_node_(fabric.depends_on_attachment_only()),
      in_nodes_(fabric.nodes()),
      first_between_(fabric.first_link(fabric.nodes())),
      between_(fabric.link_count() - first_between_) {
    for (int tile = 1; tile < tiles_; ++tile) {
        one_switch_a_node_ = one_switch_a_node_ && fabric.attachment(0, tile) == fabric.attachment(0, 0);
    }
    const auto keep = [&](std::span<const std::uint32_t> slots) {
        std::vector<LinkLoad> once;
        for (const std::uint32_t slot : slots) {
            once.push_back({slot, 1});
        }
        std::sort(once.begin(), once.end(), [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; });
        return in_nodes_.keep_list(std::move(once));
    };
    for (int tile = 0; tile < tiles_; ++tile) {
        out_.push_back(keep(fabric.slots_out(tile)));
        in_.push_back(keep(fabric.slots_in(tile)));
        to_host_.push_back(keep(fabric.slots_to_host(tile)));
        from_host_.push_back(keep(fabric.slots_from_host(tile)));
        in_host_.push_back(keep(fabric.slots_in_host(tile)));
        for (int other = 0; other < tiles_; ++other) {
            to_tile_.push_back(keep(fabric.slots_between(tile, other)));
        }
    }
}

FlowPattern PatternBuilder::build(const PatternKey& key, const GroupSet& groups, std::span<const double> shares) {
    FlowPattern pattern;
    pattern.key = key;
    pattern.ranks = groups.ranks.size();
    shares_ = shares;
    if (key.shape == StepShape::kByNode) {
        const int ranks = static_cast<int>(groups.group(0).size());
        row_weights_ = row_weights(spread_, ranks / key.distance, ranks);
    }
    template_tiles_.clear();
    for (std::size_t first = 0; first < groups.count();) {
        const std::size_t end = end_of_bundle(groups, first);
        add_bundle(groups, first, end, key, pattern);
        first = end;
    }
    if (meets_in_host(pattern) && key.shape != StepShape::kPairs) {
        pattern.node_ranks = most_on_a_node(groups);
    }
    pattern.loads = direct_loads();
    finish(pattern);
    return pattern;
}

int PatternBuilder::most_on_a_node(const GroupSet& groups) const {
    std::vector<int> on_node(static_cast<std::size_t>(fabric_.nodes()), 0);
    int most = 0;
    for (const int rank : groups.ranks) {
        most = std::max(most, ++on_node[static_cast<std::size_t>(rank / tiles_)]);
    }
    return most;
}

void PatternBuilder::finish(FlowPattern& pattern) {
    for (FlowPattern::Wait& wait : pattern.waits) {
        wait.share = pattern.flows > 0 ? wait.share / pattern.flows : 0;
    }
    if (keeps_direct_) {
        pattern.direct = std::make_shared<const PatternLoads>(pattern.loads);
    }
    find_rate(pattern);
}

/// Which of the routes between nodes is slowest does not depend on what links and switches take.
FlowPattern PatternBuilder::adapt(const FlowPattern& pattern) {
    FlowPattern adapted = pattern;
    adapted.latency_s = pattern.stays_in_node ? fabric_.node_latency_s() : 0;
    adapted.leaves_node = false;
    if (pattern.leaves_node) {
        const auto [from, to, latency_s] = pattern.slowest;
        fabric_.route_between_nodes(from / tiles_, from % tiles_, to / tiles_, to % tiles_, route_);
        note_latency(from, to, route_.latency_s, adapted);
    }
    adapted.loads = *pattern.direct;
    if (adapted.loads.alike_blocks() != nullptr) {
        adapted.loads.stand_for(fabric_.alike_blocks());
    }
    find_rate(adapted);
    return adapted;
}

/// Groups on the same nodes, index by index, have the same flows between nodes.
std::size_t PatternBuilder::end_of_bundle(const GroupSet& groups, std::size_t first) {
    const std::span<const int> group = groups.group(first);
    node_begins_.clear();
    for (const int rank : group) {
        node_begins_.push_back(rank / tiles_ * tiles_);
    }
    std::size_t end = first + 1;
    while (one_switch_a_node_ && end < groups.count() && groups.group(end).size() == group.size() &&
           lies_on(groups.group(end))) {
        ++end;
    }
    return end;
}

/// True if its ranks are on the nodes of the bundle, index by index.
bool PatternBuilder::lies_on(std::span<const int> group) const {
    unsigned farthest = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
        farthest = std::max(farthest, static_cast<unsigned>(group[i] - node_begins_[i]));
    }
    return farthest < static_cast<unsigned>(tiles_);
}

/// The sums over the tiles of a bundle; none if they differ from node to node.
const PatternBuilder::Ends* PatternBuilder::sum_ends(const GroupSet& groups, std::size_t first, std::size_t end) {
    std::vector<int>& tiles = bundle_tiles_;
    tiles.clear();
    for (std::size_t g = first; g < end; ++g) {
        const std::span<const int> group = groups.group(g);
        tiles.push_back(group.front() - node_begins_.front());
        int others = 0;
        for (std::size_t i = 0; i < group.size(); ++i) {
            others |= group[i] - node_begins_[i] - tiles.back();
        }
        if (others != 0) {
            return nullptr;
        }
    }
    return &ends_of(tiles);
}

const PatternBuilder::Ends& PatternBuilder::ends_of(const std::vector<int>& tiles) {
    const auto [found, is_new] = ends_of_tiles_.try_emplace(tiles);
    if (is_new) {
        const auto sum = [&](auto&& slots_of) {
            std::map<std::uint32_t, double> by_slot;
            for (const int tile : tiles) {
                for (const std::uint32_t slot : slots_of(tile)) {
                    by_slot[slot] += 1;
                }
            }
            return in_nodes_.keep_list(list_of(by_slot));
        };
        found->second.out = sum([&](int tile) { return fabric_.slots_out(tile); });
        found->second.in = sum([&](int tile) { return fabric_.slots_in(tile); });
    }
    return found->second;
}

void PatternBuilder::add_bundle(const GroupSet& groups, std::size_t first, std::size_t end, const PatternKey& key,
                                FlowPattern& pattern) {
    const std::span<const int> group = groups.group(first);
    const int n = static_cast<int>(group.size());
    const bool in_node =
        std::all_of(node_begins_.begin(), node_begins_.end(), [&](int begin) { return begin == node_begins_.front(); });
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
    std::array<std::vector<int>, kDetourLevels> crossing;
    crossing.fill(messages);
    const Ends* const ends = sum_ends(groups, first, end);
    // Where every node sends and receives the same and loads are not kept, the first node stands for all.
    const bool first_node_is_enough =
        key.group == models::GroupKind::kWorld && ends != nullptr && is_permutation(key.shape, n);
    for_each_pair(key.shape, key.distance, n, [&](int i, int j) {
        const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(j);
        const int from_node = group[from] / tiles_, to_node = group[to] / tiles_;
        const double flows = weight(key, group[from], group[to], to);
        if (from_node != to_node) {
            ++messages[from];
            if (const auto level = crossed(group[from], group[to])) {
                ++crossing[static_cast<std::size_t>(*level)][from];
                pattern.waits[static_cast<std::size_t>(*level)].share += flows * static_cast<double>(end - first);
            }
            add_inter_node_flow(group[from], group[to], flows * static_cast<double>(end - first), pattern);
            if (ends != nullptr) {
                pattern.flows += flows * static_cast<double>(end - first);
                if (first_node_is_enough && i > 0) {
                    return;
                }
                in_nodes_.add(static_cast<std::uint32_t>(from_node), ends->out, flows);
                in_nodes_.add(static_cast<std::uint32_t>(to_node), ends->in, flows);
                return;
            }
        }
        for (std::size_t g = first; g < end; ++g) {
            add_ends(groups.group(g)[from], groups.group(g)[to], flows, pattern);
        }
    });
    pattern.messages = std::max(pattern.messages, *std::max_element(messages.begin(), messages.end()));
    for (std::size_t level = 0; level < kDetourLevels; ++level) {
        int& most = pattern.waits[level].messages;
        most = std::max(most, *std::max_element(crossing[level].begin(), crossing[level].end()));
    }
}

/// Bytes of a flow over those of the step.
double PatternBuilder::weight(const PatternKey& key, int from, int to, std::size_t receiver) const {
    if (key.shape != StepShape::kByNode) {
        return share(receiver);
    }
    return from / tiles_ == to / tiles_ ? row_weights_.in_node : row_weights_.between_nodes;
}

/// What a flow between two ranks of different nodes goes over; none on the same switch.
std::optional<DetourLevel> PatternBuilder::crossed(int from, int to) const {
    const int from_node = from / tiles_, to_node = to / tiles_;
    if (fabric_.block(from_node) != fabric_.block(to_node)) {
        return DetourLevel::kGroups;
    }
    const bool on_one_switch =
        fabric_.attachment(from_node, from - from_node * tiles_) == fabric_.attachment(to_node, to - to_node * tiles_);
    return on_one_switch ? std::nullopt : std::optional(DetourLevel::kSwitches);
}

/// Of a round in which a rank sends one message at most.
void PatternBuilder::note_crossing(int from, int to, double flows, FlowPattern& pattern) const {
    pattern.messages = std::max(pattern.messages, 1);
    if (const auto level = crossed(from, to)) {
        FlowPattern::Wait& wait = pattern.waits[static_cast<std::size_t>(*level)];
        wait.messages = std::max(wait.messages, 1);
        wait.share += flows;
    }
}

void PatternBuilder::add_host_work(std::span<const int> group, StepShape shape, FlowPattern& pattern) {
    const std::vector<NodeLoads::ListId>& lists = shape == StepShape::kToHost     ? to_host_
                                                  : shape == StepShape::kFromHost ? from_host_
                                                                                  : in_host_;
    for (const int rank : group) {
        const int node = rank / tiles_;
        in_nodes_.add(static_cast<std::uint32_t>(node), lists[static_cast<std::size_t>(rank - node * tiles_)], 1);
        pattern.flows += 1;
    }
    pattern.stays_in_node = true;
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
            note_crossing(from, to, 1, pattern);  // each ring leaves a node at another rank
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
            const std::span<const std::uint32_t> slots =
                key.by_host ? fabric_.slots_by_host(from_tile, to_tile) : fabric_.slots_between(from_tile, to_tile);
            for (const std::uint32_t slot : slots) {
                loads[slot] += share(to);
            }
            template_flows_ += share(to);
        });
        template_ = in_nodes_.keep_list(list_of(loads));
    }
    if (!known || key.group != models::GroupKind::kWorld) {  // loads are not kept there: the first node stands for all
        in_nodes_.add(static_cast<std::uint32_t>(node), template_, 1);
    }
    pattern.flows += template_flows_;
    if (template_flows_ > 0) {
        pattern.stays_in_node = true;
        pattern.latency_s = std::max(pattern.latency_s, fabric_.node_latency_s());
    }
}

/// `from` and `to` are ranks whose NICs stand for all flows.
void PatternBuilder::add_inter_node_flow(int from, int to, double flows, FlowPattern& pattern) {
    const int from_node = from / tiles_, to_node = to / tiles_;
    fabric_.route_between_nodes(from_node, from - from_node * tiles_, to_node, to - to_node * tiles_, route_);
    for (const Leg& leg : route_.legs) {
        between_[leg.link - first_between_] += leg.weight * flows;
    }
    note_latency(from, to, route_.latency_s, pattern);
}

/// Of a route between nodes.
void PatternBuilder::note_latency(int from, int to, double latency_s, FlowPattern& pattern) {
    if (!pattern.leaves_node || latency_s > pattern.slowest.latency_s) {
        pattern.slowest = {from, to, latency_s};
    }
    pattern.leaves_node = true;
    pattern.latency_s = std::max(pattern.latency_s, latency_s);
}

/// What a flow takes inside nodes.
void PatternBuilder::add_ends(int from, int to, double weight, FlowPattern& pattern) {
    const int from_node = from / tiles_, to_node = to / tiles_;
    const int from_tile = from - from_node * tiles_, to_tile = to - to_node * tiles_;
    pattern.flows += weight;
    if (from_node == to_node) {
        in_nodes_.add(static_cast<std::uint32_t>(from_node),
                      to_tile_[static_cast<std::size_t>(from_tile * tiles_ + to_tile)], weight);
        pattern.stays_in_node = true;
        pattern.latency_s = std::max(pattern.latency_s, fabric_.node_latency_s());
        return;
    }
    in_nodes_.add(static_cast<std::uint32_t>(from_node), out_[static_cast<std::size_t>(from_tile)], weight);
    in_nodes_.add(static_cast<std::uint32_t>(to_node), in_[static_cast<std::size_t>(to_tile)], weight);
}

/// Takes what was added: the loads of nodes, those between nodes last. Most nodes of a pattern have the history of an
/// earlier one, and of those with others many have the same sums.
PatternLoads PatternBuilder::direct_loads() {
    constexpr std::size_t kNoPart = ~std::size_t{0};
    PatternLoads loads(fabric_.links_per_node());
    std::vector<std::size_t> part_of_history(in_nodes_.history_count(), kNoPart);
    std::unordered_map<std::uint64_t, std::size_t> part_of_hash;
    in_nodes_.for_each_node([&](std::uint32_t node, NodeLoads::HistoryId history) {
        std::size_t& like = part_of_history[history];
        if (like != kNoPart) {
            like = loads.repeat(node, like);
            return;
        }
        in_nodes_.sum(history, part_);
        const auto [found, is_new] = part_of_hash.try_emplace(hash_of(part_), loads.parts().size());
        const bool is_known = !is_new && are_equal(loads.loads(loads.parts()[found->second]), part_);
        like = is_known ? loads.repeat(node, found->second) : loads.add(node, part_);
    });
    in_nodes_.clear();
    part_.clear();
    between_.drain([&](std::uint32_t index, double load) { part_.push_back({first_between_ + index, load}); });
    if (!part_.empty()) {
        loads.add(PatternLoads::kBetweenNodes, part_);
    }
    return loads;
}

}  // namespace auspex::network
