/// @file Links of a dragonfly's groups by number: [group][switch][switch], [group][group][parallel].
#include "sim/dragonfly_links.hpp"

#include <algorithm>
#include <utility>

#include "sim/dragonfly.hpp"

namespace auspex {
namespace {

/// Switches that a packet passes: on the minimal path, and by way of a third switch or group.
constexpr double kSwitchesSameSwitch = 1, kSwitchesSameGroup = 2, kSwitchesOtherGroup = 4;
constexpr double kSwitchesDetourInGroup = 3, kSwitchesDetourByGroup = 6;

constexpr double kNoBias = 1e-9;

/// Share of traffic whose latency is that of the minimal path.
double minimal_share(const FabricRecipe& recipe) {
    return recipe.routing == RoutingKind::kAdaptive ? recipe.minimal_bias : 0;
}

void take(Crossing& crossing, std::uint32_t link, double weight) {
    if (link != kNoLink) {
        crossing.legs.push_back({link, weight});
    }
}

/// Neighbouring parallel links often hang on one switch: their shares of the way there add up.
void take_more(Crossing& crossing, std::uint32_t link, double weight) {
    if (!crossing.legs.empty() && crossing.legs.back().link == link) {
        crossing.legs.back().weight += weight;
    } else {
        take(crossing, link, weight);
    }
}

}  // namespace

DragonflyLinks::DragonflyLinks(const FabricRecipe& recipe, double efficiency, JobBlocks job, LinkRanges& links)
    : recipe_(recipe),
      job_(std::move(job)),
      groups_(static_cast<std::uint32_t>(job_.blocks.size())),
      switches_(static_cast<std::uint32_t>(recipe.switches_per_group)) {
    for (const int node : job_.nodes) {
        switch_of_node_.push_back(dragonfly_switch(recipe, node % recipe.nodes_per_group));
    }
    const double rate = recipe.link_bytes_per_s * efficiency;
    const double local = rate * recipe.local_links;
    direct_bytes_per_s_ = rate * recipe.global_links * (1 - recipe.background_load);
    if (recipe.routing != RoutingKind::kValiant) {
        add_direct(local, direct_bytes_per_s_, links);
    }
    if (recipe.routing != RoutingKind::kMinimal) {
        add_pools(local, direct_bytes_per_s_, links);
    }
}

/// Adaptive: what the minimal path lets a pair carry. Minimal: every link, parallel ones between groups by themselves.
void DragonflyLinks::add_direct(double local, double global, LinkRanges& links) {
    const bool adaptive = recipe_.routing == RoutingKind::kAdaptive;
    // Without a bias nothing keeps traffic on the direct links; they stay, for what does not fit on them detours.
    const double over_link = adaptive ? 1 / std::max(recipe_.minimal_bias, kNoBias) : 1;
    parallel_ = adaptive ? 1 : static_cast<std::uint32_t>(recipe_.global_links);
    local_ = links.add(LinkKind::kLocal, std::uint64_t{groups_} * switches_ * switches_, local * over_link);
    global_ =
        links.add(LinkKind::kGlobal, std::uint64_t{groups_} * groups_ * parallel_, global * over_link / parallel_);
}

void DragonflyLinks::add_pools(double local, double global, LinkRanges& links) {
    if (switches_ > 1) {
        local_spread_ =
            links.add(LinkKind::kLocalSpread, std::uint64_t{2} * groups_ * switches_, local * (switches_ - 1));
    }
    if (recipe_.groups > 1) {
        const double others = recipe_.groups - 1;
        global_spread_ = links.add(LinkKind::kGlobalSpread, std::uint64_t{2} * groups_, global * others);
        pool_ = links.add(LinkKind::kGlobalPool, 1, global * others * recipe_.groups);
    }
}

DragonflyLinks::End DragonflyLinks::end_of(int node) const {
    const auto n = static_cast<std::size_t>(node);
    return {job_.block_of_node[n], switch_of_node_[n]};
}

std::uint32_t DragonflyLinks::local(std::uint32_t group, std::uint32_t from, std::uint32_t to) const {
    return local_ == kNoLink ? kNoLink : local_ + (group * switches_ + from) * switches_ + to;
}

void DragonflyLinks::cross(int from_node, int to_node, Crossing& crossing) const {
    const End from = end_of(from_node), to = end_of(to_node);
    crossing.legs.clear();
    crossing.leaves_group = from.group != to.group;
    double passed = kSwitchesSameSwitch;
    if (from != to) {
        passed = recipe_.routing == RoutingKind::kMinimal ? cross_minimal(from, to, crossing)
                                                          : cross_spread(from, to, crossing);
    }
    crossing.latency_s = passed * recipe_.switch_latency_s;
}

/// Switches passed: the mean over the parallel links between the groups.
double DragonflyLinks::cross_minimal(End from, End to, Crossing& crossing) const {
    if (from.group == to.group) {
        take(crossing, local(from.group, from.place, to.place), 1);
        return kSwitchesSameGroup;
    }
    const int group = job_.blocks[from.group], other = job_.blocks[to.group];
    const double share = 1.0 / parallel_;
    double passed = kSwitchesOtherGroup;
    for (std::uint32_t k = 0; k < parallel_; ++k) {
        const std::uint32_t gateway = dragonfly_gateway(recipe_, group, other, static_cast<int>(k));
        if (gateway == from.place) {
            passed -= share;
        } else {
            take_more(crossing, local(from.group, from.place, gateway), share);
        }
    }
    for (std::uint32_t k = 0; k < parallel_; ++k) {
        take(crossing, global_ + (from.group * groups_ + to.group) * parallel_ + k, share);
    }
    for (std::uint32_t k = 0; k < parallel_; ++k) {
        const std::uint32_t gateway = dragonfly_gateway(recipe_, other, group, static_cast<int>(k));
        if (gateway == to.place) {
            passed -= share;
        } else {
            take_more(crossing, local(to.group, gateway, to.place), share);
        }
    }
    return passed;
}

double DragonflyLinks::cross_spread(End from, End to, Crossing& crossing) const {
    const double minimal = minimal_share(recipe_), detour = 1 - minimal;
    const auto spread = [&](End end, std::uint32_t way) {
        return local_spread_ == kNoLink ? kNoLink : local_spread_ + 2 * (end.group * switches_ + end.place) + way;
    };
    if (from.group == to.group) {
        take(crossing, local(from.group, from.place, to.place), 1);
        take(crossing, spread(from, 0), 1);
        take(crossing, spread(to, 1), 1);
        return minimal * kSwitchesSameGroup + detour * kSwitchesDetourInGroup;
    }
    take(crossing, spread(from, 0), 1);
    take(crossing, global_ == kNoLink ? kNoLink : global_ + from.group * groups_ + to.group, 1);
    take(crossing, global_spread_ + 2 * from.group, 1);
    take(crossing, pool_, recipe_.routing == RoutingKind::kValiant ? 2 : 1);
    take(crossing, global_spread_ + 2 * to.group + 1, 1);
    take(crossing, spread(to, 1), 1);
    // A group of one switch has its links to other groups there: each group is one switch on the way.
    const double in_group = switches_ > 1 ? 1 : 0.5;
    return in_group * (minimal * kSwitchesOtherGroup + detour * kSwitchesDetourByGroup);
}

std::string DragonflyLinks::name(LinkKind kind, std::uint32_t link) const {
    const auto number = [&](std::uint32_t group) { return std::to_string(job_.blocks[group]); };
    const auto way = [](std::uint32_t index) { return index % 2 == 0 ? " out" : " in"; };
    switch (kind) {
        case LinkKind::kLocal: {
            const std::uint32_t index = link - local_, pair = index % (switches_ * switches_);
            return "group " + number(index / switches_ / switches_) + ": switch " + std::to_string(pair / switches_) +
                   " to " + std::to_string(pair % switches_);
        }
        case LinkKind::kGlobal: {
            const std::uint32_t index = link - global_, pair = index / parallel_;
            return "group " + number(pair / groups_) + " to group " + number(pair % groups_) +
                   (parallel_ > 1 ? ", link " + std::to_string(index % parallel_) : "");
        }
        case LinkKind::kLocalSpread: {
            const std::uint32_t index = link - local_spread_, at = index / 2;
            return "group " + number(at / switches_) + ": all local links of switch " + std::to_string(at % switches_) +
                   way(index);
        }
        case LinkKind::kGlobalSpread:
            return "all global links of group " + number((link - global_spread_) / 2) + way(link - global_spread_);
        default: return "all global links of the machine";
    }
}

int DragonflyLinks::attachment(int node) const {
    const End end = end_of(node);
    return static_cast<int>(end.group * switches_ + end.place);
}

double DragonflyLinks::minimal_capacity_bytes_per_s(std::uint32_t link) const {
    const bool is_pair = recipe_.routing == RoutingKind::kAdaptive && global_ != kNoLink && link >= global_ &&
                         link - global_ < groups_ * groups_;
    return is_pair ? direct_bytes_per_s_ : 0;
}

}  // namespace auspex
