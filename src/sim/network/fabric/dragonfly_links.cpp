/// @file Links of a dragonfly's groups by number: [group][switch][switch], [group][group][parallel].
#include "sim/network/fabric/dragonfly_links.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "sim/network/fabric/dragonfly.hpp"

namespace auspex::network {
namespace {

/// Switches that a packet passes: on the minimal path, and by way of a third switch or group.
constexpr double kSwitchesSameGroup = 2, kSwitchesOtherGroup = 4;
constexpr double kSwitchesDetourInGroup = 3, kSwitchesDetourByGroup = 6;

/// Share of traffic whose latency is that of the minimal path. Adaptive: all, while no link is full; what waits for
/// full ones is in detour_delay.
double minimal_share(const models::FabricRecipe& recipe) {
    return recipe.routing == models::RoutingKind::kAdaptive ? 1 : 0;
}

void take(InterNodeRoute& route, std::uint32_t link, double weight) { route.legs.push_back({link, weight}); }

/// Neighbouring parallel links often hang on one switch: their shares of the way there add up.
void take_more(InterNodeRoute& route, std::uint32_t link, double weight) {
    if (!route.legs.empty() && route.legs.back().link == link) {
        route.legs.back().weight += weight;
    } else {
        take(route, link, weight);
    }
}

}  // namespace

DragonflyLinks::DragonflyLinks(const models::FabricRecipe& recipe, double efficiency, JobBlocks job, LinkRanges& links)
    : recipe_(recipe),
      job_(std::move(job)),
      groups_(static_cast<std::uint32_t>(job_.blocks.size())),
      switches_(static_cast<std::uint32_t>(recipe.switches_per_group)),
      to_gateway_(1 - 1.0 / switches_) {
    for (const int node : job_.nodes) {
        switch_of_node_.push_back(dragonfly_switch(recipe, node % recipe.nodes_per_group));
    }
    const double rate = recipe.link_bytes_per_s * efficiency;
    const double local = rate * recipe.local_links;
    const double global = rate * recipe.global_links * (1 - recipe.background_load);
    if (recipe.routing == models::RoutingKind::kMinimal) {
        add_single(local, global, links);
        return;
    }
    add_pairs(local, global, links);
    add_pools(local, global, links);
    if (recipe.routing == models::RoutingKind::kAdaptive) {
        add_detours(local, global);
    }
    if (sums_exchanges()) {
        find_alike_blocks();
    }
}

/// Every link, parallel ones between groups by themselves.
void DragonflyLinks::add_single(double local, double global, LinkRanges& links) {
    parallel_ = static_cast<std::uint32_t>(recipe_.global_links);
    local_ = links.add(LinkKind::kLocal, std::uint64_t{groups_} * switches_ * switches_, local);
    global_ = links.add(LinkKind::kGlobal, std::uint64_t{groups_} * groups_ * parallel_, global / parallel_);
}

/// What the routing lets a pair carry: adaptive over its direct links and those to third ones, Valiant over the latter.
void DragonflyLinks::add_pairs(double local, double global, LinkRanges& links) {
    double of_switches = switches_ - 1, of_groups = recipe_.groups - 1;
    if (recipe_.routing == models::RoutingKind::kValiant) {
        AUSPEX_CHECK(recipe_.groups != 2, "the loader refuses Valiant routing between two groups");
        of_switches = has_third_switch() ? switches_ - 2 : 1;
        of_groups = recipe_.groups - 2;
    }
    local_ = links.add(LinkKind::kLocal, std::uint64_t{groups_} * switches_ * switches_, local * of_switches);
    if (recipe_.groups > 1) {
        global_ = links.add(LinkKind::kGlobal, std::uint64_t{groups_} * groups_, global * of_groups);
    }
}

void DragonflyLinks::add_pools(double local, double global, LinkRanges& links) {
    if (switches_ > 1) {
        const double others = switches_ - 1;
        local_spread_ = links.add(LinkKind::kLocalSpread, std::uint64_t{2} * groups_ * switches_, local * others);
        local_pool_ = links.add(LinkKind::kLocalPool, groups_, local * others * switches_);
    }
    if (recipe_.groups > 1) {
        const double others = recipe_.groups - 1;
        global_spread_ = links.add(LinkKind::kGlobalSpread, std::uint64_t{2} * groups_, global * others);
        global_pool_ = links.add(LinkKind::kGlobalPool, 1, global * others * recipe_.groups);
    }
}

void DragonflyLinks::add_detours(double local, double global) {
    const std::uint32_t pairs_of_group = switches_ * switches_, pairs = groups_ * groups_;
    if (local_pool_ != kNoLink) {
        detours_.push_back(
            {DetourLevel::kSwitches, local_, local_ + groups_ * pairs_of_group, pairs_of_group, local_pool_, local});
    }
    if (global_pool_ != kNoLink) {
        detours_.push_back({DetourLevel::kGroups, global_, global_ + pairs, pairs, global_pool_, global});
    }
}

void DragonflyLinks::find_alike_blocks() {
    const auto nodes = static_cast<std::size_t>(recipe_.nodes_per_group);
    if (job_.nodes.size() != nodes * groups_) {
        return;
    }
    for (std::size_t n = 0; n < job_.nodes.size(); ++n) {
        if (job_.block_of_node[n] != n / nodes || static_cast<std::size_t>(job_.nodes[n]) % nodes != n % nodes) {
            return;
        }
    }
    alike_ = {recipe_.nodes_per_group, static_cast<int>(groups_), {{local_, switches_ * switches_}}, global_};
    if (local_pool_ != kNoLink) {
        alike_.links.push_back({local_spread_, 2 * switches_});
        alike_.links.push_back({local_pool_, 1});
    }
    if (global_pool_ != kNoLink) {
        alike_.links.push_back({global_spread_, 2});
    }
}

DragonflyLinks::End DragonflyLinks::end_of(int node) const {
    const auto n = static_cast<std::size_t>(node);
    return {job_.block_of_node[n], switch_of_node_[n]};
}

std::uint32_t DragonflyLinks::local(std::uint32_t group, std::uint32_t from, std::uint32_t to) const {
    return local_ + (group * switches_ + from) * switches_ + to;
}

std::uint32_t DragonflyLinks::spread(End end, std::uint32_t way) const {
    return local_spread_ + 2 * (end.group * switches_ + end.switch_in_group) + way;
}

void DragonflyLinks::route_between(int from_node, int to_node, InterNodeRoute& route) const {
    const End from = end_of(from_node), to = end_of(to_node);
    route.legs.clear();
    route.leaves_group = from.group != to.group;
    double passed = passed_on_switch();
    if (from != to) {
        passed = recipe_.routing == models::RoutingKind::kMinimal ? route_minimal(from, to, route)
                 : route.leaves_group                             ? route_between_groups(from, to, route)
                                                                  : route_in_group(from, to, route);
    }
    route.latency_s = passed * recipe_.switch_latency_s;
}

/// Switches passed: the mean over the parallel links between the groups.
double DragonflyLinks::route_minimal(End from, End to, InterNodeRoute& route) const {
    if (from.group == to.group) {
        take(route, local(from.group, from.switch_in_group, to.switch_in_group), 1);
        return kSwitchesSameGroup;
    }
    const int group = job_.blocks[from.group], other = job_.blocks[to.group];
    const double share = 1.0 / parallel_;
    double passed = kSwitchesOtherGroup;
    for (std::uint32_t k = 0; k < parallel_; ++k) {
        const std::uint32_t gateway = dragonfly_gateway(recipe_, group, other, static_cast<int>(k));
        if (gateway == from.switch_in_group) {
            passed -= share;
        } else {
            take_more(route, local(from.group, from.switch_in_group, gateway), share);
        }
    }
    for (std::uint32_t k = 0; k < parallel_; ++k) {
        take(route, global_ + (from.group * groups_ + to.group) * parallel_ + k, share);
    }
    for (std::uint32_t k = 0; k < parallel_; ++k) {
        const std::uint32_t gateway = dragonfly_gateway(recipe_, other, group, static_cast<int>(k));
        if (gateway == to.switch_in_group) {
            passed -= share;
        } else {
            take_more(route, local(to.group, gateway, to.switch_in_group), share);
        }
    }
    return passed;
}

double DragonflyLinks::route_in_group(End from, End to, InterNodeRoute& route) const {
    take(route, local(from.group, from.switch_in_group, to.switch_in_group), 1);
    take(route, spread(from, 0), 1);
    take(route, spread(to, 1), 1);
    take(route, local_pool_ + from.group, detours_in_group() ? 2 : 1);
    return passed_in_group();
}

double DragonflyLinks::passed_in_group() const {
    const double minimal = has_third_switch() ? minimal_share(recipe_) : 1;
    return minimal * kSwitchesSameGroup + (1 - minimal) * kSwitchesDetourInGroup;
}

double DragonflyLinks::route_between_groups(End from, End to, InterNodeRoute& route) const {
    const bool has_local = switches_ > 1;
    if (has_local) {
        take(route, spread(from, 0), 1);
        take(route, local_pool_ + from.group, to_gateway_);
    }
    take(route, global_ + from.group * groups_ + to.group, 1);
    take(route, global_spread_ + 2 * from.group, 1);
    take(route, global_pool_, recipe_.routing == models::RoutingKind::kValiant ? 2 : 1);
    take(route, global_spread_ + 2 * to.group + 1, 1);
    if (has_local) {
        take(route, local_pool_ + to.group, to_gateway_);
        take(route, spread(to, 1), 1);
    }
    return passed_between_groups();
}

/// A group of one switch has its links to other groups there: each group is one switch on the way.
double DragonflyLinks::passed_between_groups() const {
    const double in_group = switches_ > 1 ? 1 : 0.5, minimal = recipe_.groups > 2 ? minimal_share(recipe_) : 1;
    return in_group * (minimal * kSwitchesOtherGroup + (1 - minimal) * kSwitchesDetourByGroup);
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
        case LinkKind::kLocalPool: return "group " + number(link - local_pool_) + ": all local links";
        case LinkKind::kGlobalSpread:
            return "all global links of group " + number((link - global_spread_) / 2) + way(link - global_spread_);
        default: return "all global links of the machine";
    }
}

int DragonflyLinks::attachment(int node) const {
    const End end = end_of(node);
    return static_cast<int>(end.group * switches_ + end.switch_in_group);
}

}  // namespace auspex::network
