/// @file Loads of a pattern: flow by flow between nodes, once per arrangement of tiles inside them, by counts for all
/// pairs.
#include "sim/flow_pattern.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "base/error.hpp"

namespace auspex {

int power_of_two_within(int n) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }

GroupSet flatten(const std::vector<std::vector<int>>& groups) {
    GroupSet set;
    for (const std::vector<int>& group : groups) {
        set.ranks.insert(set.ranks.end(), group.begin(), group.end());
        set.begin.push_back(static_cast<std::uint32_t>(set.ranks.size()));
    }
    return set;
}

namespace {

/// Ranks of a group by node, both in the order in which the group first names them.
std::vector<std::vector<int>> by_node(std::span<const int> group, int tiles_per_node) {
    std::vector<std::vector<int>> parts;
    std::map<int, std::size_t> part_of_node;
    int last_node = -1;
    std::size_t part = 0;
    for (const int rank : group) {
        if (const int node = rank / tiles_per_node; node != last_node) {
            const auto [found, is_new] = part_of_node.try_emplace(node, parts.size());
            if (is_new) {
                parts.emplace_back();
            }
            last_node = node;
            part = found->second;
        }
        parts[part].push_back(rank);
    }
    return parts;
}

/// Ranks on each node if the group visits its nodes one after the other by rising number, equally many on each; else 0.
/// Two nodes may come in any order.
std::size_t even_run(std::span<const int> group, int tiles_per_node) {
    std::size_t run = 1;
    while (run < group.size() && group[run] / tiles_per_node == group.front() / tiles_per_node) {
        ++run;
    }
    if (group.size() % run != 0) {
        return 0;
    }
    for (std::size_t first = 0; first < group.size(); first += run) {
        const int node = group[first] / tiles_per_node;
        const bool is_new = first == 0 || group[first - 1] / tiles_per_node < node || group.size() == 2 * run;
        const bool together = std::all_of(group.begin() + static_cast<std::ptrdiff_t>(first),
                                          group.begin() + static_cast<std::ptrdiff_t>(first + run),
                                          [&](int rank) { return rank / tiles_per_node == node; });
        if (!is_new || !together) {
            return 0;
        }
    }
    return run;
}

GroupForm form_of_one(std::span<const int> group, int tiles_per_node) {
    if (const std::size_t run = even_run(group, tiles_per_node); run > 0) {
        return {static_cast<int>(group.size()), static_cast<int>(group.size() / run), static_cast<int>(run)};
    }
    const std::vector<std::vector<int>> parts = by_node(group, tiles_per_node);
    const std::size_t per_node = parts.front().size();
    const bool even =
        std::all_of(parts.begin(), parts.end(), [&](const auto& part) { return part.size() == per_node; });
    return {static_cast<int>(group.size()), static_cast<int>(parts.size()), even ? static_cast<int>(per_node) : 0};
}

/// Subgroups of one group whose ranks come node by node, `run` on each.
void append_even(std::span<const int> group, std::size_t run, Level level, GroupSet& set) {
    const std::size_t subgroups_here = level == Level::kInner ? group.size() / run : run;
    const std::size_t size = group.size() / subgroups_here;
    for (std::size_t s = 0; s < subgroups_here; ++s) {
        for (std::size_t i = 0; i < size; ++i) {
            set.ranks.push_back(level == Level::kInner ? group[s * run + i] : group[i * run + s]);
        }
        set.begin.push_back(static_cast<std::uint32_t>(set.ranks.size()));
    }
}

}  // namespace

GroupForm form_of(const GroupSet& groups, int tiles_per_node) {
    GroupForm form = form_of_one(groups.group(0), tiles_per_node);
    for (std::size_t g = 1; g < groups.count(); ++g) {
        const GroupForm other = form_of_one(groups.group(g), tiles_per_node);
        AUSPEX_CHECK(other.ranks == form.ranks, "sibling groups have the same size");
        if (other.nodes != form.nodes || other.per_node != form.per_node) {
            form.per_node = 0;
            form.nodes = std::max(form.nodes, other.nodes);
        }
    }
    return form;
}

GroupSet subgroups(const GroupSet& groups, Level level, int tiles_per_node) {
    if (level == Level::kFlat) {
        return groups;
    }
    GroupSet set;
    const auto close = [&] { set.begin.push_back(static_cast<std::uint32_t>(set.ranks.size())); };
    set.ranks.reserve(groups.ranks.size());
    for (std::size_t g = 0; g < groups.count(); ++g) {
        if (const std::size_t run = even_run(groups.group(g), tiles_per_node); run > 0) {
            append_even(groups.group(g), run, level, set);
            continue;
        }
        const std::vector<std::vector<int>> parts = by_node(groups.group(g), tiles_per_node);
        if (level == Level::kInner) {
            for (const std::vector<int>& part : parts) {
                set.ranks.insert(set.ranks.end(), part.begin(), part.end());
                close();
            }
            continue;
        }
        for (std::size_t place = 0; place < parts.front().size(); ++place) {
            for (const std::vector<int>& part : parts) {
                AUSPEX_CHECK(part.size() == parts.front().size(), "two levels need equally many ranks on every node");
                set.ranks.push_back(part[place]);
            }
            close();
        }
    }
    return set;
}

bool overlap(const FlowPattern& a, const FlowPattern& b) {
    auto i = a.blocks.begin();
    auto j = b.blocks.begin();
    while (i != a.blocks.end() && j != b.blocks.end()) {
        if (i->index == j->index && (i->links & j->links) != 0) {
            return true;
        }
        const bool advance_i = i->index <= j->index, advance_j = j->index <= i->index;
        i += advance_i ? 1 : 0;
        j += advance_j ? 1 : 0;
    }
    return false;
}

PatternBuilder::PatternBuilder(const Fabric& fabric, double scale_up_message_s, double scale_out_message_s)
    : fabric_(fabric),
      scale_up_message_s_(scale_up_message_s),
      scale_out_message_s_(scale_out_message_s),
      tiles_(fabric.tiles_per_node()),
      load_(fabric.link_count(), 0),
      touched_(fabric.link_count() / 64 + 1, 0) {}

void PatternBuilder::add(std::uint32_t link, double weight) {
    load_[link] += weight;
    touched_[link / 64] |= std::uint64_t{1} << (link % 64);
}

FlowPattern PatternBuilder::build(const PatternKey& key, const GroupSet& groups) {
    FlowPattern pattern;
    pattern.key = key;
    pattern.ranks = groups.ranks.size();
    template_tiles_.clear();
    for (std::size_t g = 0; g < groups.count(); ++g) {
        add_group(groups.group(g), key, pattern);
    }
    collect(pattern);
    return pattern;
}

void PatternBuilder::add_group(std::span<const int> group, const PatternKey& key, FlowPattern& pattern) {
    const int n = static_cast<int>(group.size()), node = group.front() / tiles_;
    if (std::all_of(group.begin(), group.end(), [&](int rank) { return rank / tiles_ == node; })) {
        add_in_node(group, key, pattern);
    } else if (key.shape == StepShape::kAllPairs) {
        add_all_pairs(group, pattern);
    } else {
        for_each_pair(key.shape, key.distance, n, [&](int i, int j) {
            add_flow(group[static_cast<std::size_t>(i)], group[static_cast<std::size_t>(j)], pattern);
        });
    }
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
            const int from = template_tiles_[static_cast<std::size_t>(i)],
                      to = template_tiles_[static_cast<std::size_t>(j)];
            for (const std::uint32_t slot : fabric_.slots_between(from, to)) {
                loads[slot] += 1;
            }
            ++template_flows_;
        });
        template_loads_.clear();
        for (const auto& [slot, load] : loads) {
            template_loads_.push_back({slot, load});
        }
    }
    const std::uint32_t first = fabric_.first_link(node);
    for (const LinkLoad& slot : template_loads_) {
        add(first + slot.link, slot.load);
    }
    pattern.flows += template_flows_;
    if (template_flows_ > 0) {
        pattern.alpha_s = std::max(pattern.alpha_s, scale_up_message_s_ + fabric_.node_latency_s());
    }
}

void PatternBuilder::add_crossing(int from_node, int to_node, double flows, FlowPattern& pattern) {
    const Crossing crossing = fabric_.crossing(from_node, to_node);
    for (int i = 0; i < crossing.count; ++i) {
        const Leg& leg = crossing.legs[static_cast<std::size_t>(i)];
        add(leg.link, leg.weight * flows);
    }
    pattern.alpha_s = std::max(pattern.alpha_s, scale_out_message_s_ + crossing.latency_s);
    pattern.leaves_node = true;
}

void PatternBuilder::add_flow(int from, int to, FlowPattern& pattern) {
    const int from_node = from / tiles_, to_node = to / tiles_;
    const int from_tile = from - from_node * tiles_, to_tile = to - to_node * tiles_;
    const std::uint32_t first_from = fabric_.first_link(from_node), first_to = fabric_.first_link(to_node);
    ++pattern.flows;
    if (from_node == to_node) {
        for (const std::uint32_t slot : fabric_.slots_between(from_tile, to_tile)) {
            add(first_from + slot, 1);
        }
        pattern.alpha_s = std::max(pattern.alpha_s, scale_up_message_s_ + fabric_.node_latency_s());
        return;
    }
    for (const std::uint32_t slot : fabric_.slots_out(from_tile)) {
        add(first_from + slot, 1);
    }
    add_crossing(from_node, to_node, 1, pattern);
    for (const std::uint32_t slot : fabric_.slots_in(to_tile)) {
        add(first_to + slot, 1);
    }
}

/// Each rank sends as many flows out of its node, and receives as many, as there are ranks elsewhere; a pair of
/// switches carries the product of the ranks on both. n ranks make n^2 flows, but the loads take only the pairs in a
/// node and the pairs of switches.
void PatternBuilder::add_all_pairs(std::span<const int> group, FlowPattern& pattern) {
    struct Attached {
        int node = 0;  ///< one that hangs there
        double ranks = 0, pairs_across_nodes = 0;
    };
    std::map<int, Attached> switches;
    for (const std::vector<int>& part : by_node(group, tiles_)) {
        const int node = part.front() / tiles_;
        const auto here = static_cast<double>(part.size()), elsewhere = static_cast<double>(group.size()) - here;
        const std::uint32_t first = fabric_.first_link(node);
        for (const int rank : part) {
            for (const std::uint32_t slot : fabric_.slots_out(rank - node * tiles_)) {
                add(first + slot, elsewhere);
            }
            for (const std::uint32_t slot : fabric_.slots_in(rank - node * tiles_)) {
                add(first + slot, elsewhere);
            }
            for (const int other : part) {
                if (other != rank) {
                    add_flow(rank, other, pattern);
                }
            }
        }
        pattern.flows += static_cast<std::uint64_t>(here * elsewhere);
        Attached& at = switches[fabric_.attachment(node)];
        at.node = node;
        at.pairs_across_nodes += at.ranks * here * 2;
        at.ranks += here;
    }
    for (const auto& [id, from] : switches) {
        for (const auto& [other_id, to] : switches) {
            const double flows = id == other_id ? from.pairs_across_nodes : from.ranks * to.ranks;
            if (flows > 0) {
                add_crossing(from.node, to.node, flows, pattern);
            }
        }
    }
}

/// Moves the loads out of the arrays, which are zero again afterwards, and finds the link that binds.
void PatternBuilder::collect(FlowPattern& pattern) {
    pattern.solo_rate = std::numeric_limits<double>::infinity();
    std::size_t links = 0, blocks = 0;
    for (const std::uint64_t bits : touched_) {
        links += static_cast<std::size_t>(std::popcount(bits));
        blocks += bits != 0 ? 1U : 0U;
    }
    pattern.loads.reserve(links);
    pattern.blocks.reserve(blocks);
    const std::span<const double> capacities = fabric_.capacities_bytes_per_s();
    for (std::uint32_t block = 0; block < touched_.size(); ++block) {
        std::uint64_t bits = touched_[block];
        if (bits == 0) {
            continue;
        }
        pattern.blocks.push_back({block, bits});
        touched_[block] = 0;
        for (; bits != 0; bits &= bits - 1) {
            const std::uint32_t link = block * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
            const double load = load_[link];
            load_[link] = 0;
            pattern.loads.push_back({link, load});
            if (capacities[link] < pattern.solo_rate * load) {
                pattern.solo_rate = capacities[link] / load;
                pattern.bottleneck = link;
            }
        }
    }
}

void append_flows(const Fabric& fabric, const PatternKey& key, const GroupSet& groups, std::uint32_t owner,
                  FlowSet& flows) {
    for (std::size_t g = 0; g < groups.count(); ++g) {
        const std::span<const int> group = groups.group(g);
        for_each_pair(key.shape, key.distance, static_cast<int>(group.size()), [&](int i, int j) {
            const Route route = fabric.route(group[static_cast<std::size_t>(i)], group[static_cast<std::size_t>(j)]);
            flows.legs.insert(flows.legs.end(), route.legs.begin(), route.legs.end());
            flows.begin.push_back(static_cast<std::uint32_t>(flows.legs.size()));
            flows.owner.push_back(owner);
        });
    }
}

}  // namespace auspex
