/// @file Paths of packets, and the comparison of their waits.
#include "packets/router.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace auspex::packets {
namespace {

int draw_below(int n, Rng& rng) { return static_cast<int>(rng.below(static_cast<std::uint64_t>(n))); }

}  // namespace

Router::Router(const Dragonfly& dragonfly, const Links& links, const Routing& routing)
    : dragonfly_(dragonfly), links_(links), routing_(routing), news_(routing.news_s > 0 ? dragonfly.links() : 0) {}

Route Router::choose(int source, int target, double now_s, Rng& rng) {
    const int from = dragonfly_.switch_of(source);
    const int parallel_links = dragonfly_.shape().links;
    const int first = draw_below(parallel_links, rng);
    Route route;
    route.path = minimal(from, target, first);
    route.empty_s = links_.empty_path_s(route.path);
    if (routing_.policy == Policy::kMinimal ||
        (from == dragonfly_.switch_of(target) && routing_.policy == Policy::kAdaptive)) {
        return route;
    }
    if (routing_.policy == Policy::kValiant) {
        const int to_group = dragonfly_.group_of_switch(dragonfly_.switch_of(target));
        route.path = by_group(from, third_group(dragonfly_.group_of_switch(from), to_group, rng), target, rng);
        route.is_minimal = false;
        return route;
    }
    double least_s = wait_seen_s(route.path, now_s);
    for (int other = 1; other < std::min(routing_.candidates, parallel_links); ++other) {
        const Path path = minimal(from, target, (first + other) % parallel_links);
        if (const double wait_s = wait_seen_s(path, now_s); wait_s < least_s) {
            least_s = wait_s;
            route.path = path;
            route.empty_s = links_.empty_path_s(path);
        }
    }
    least_s -= routing_.bias_s;
    for (int other = 0; other < routing_.candidates; ++other) {
        const Path path = detour(from, target, rng);
        if (const double wait_s = wait_seen_s(path, now_s); path.size > 0 && wait_s < least_s) {
            least_s = wait_s;
            route.path = path;
            route.is_minimal = false;
        }
    }
    return route;
}

LinkId Router::emptiest(LinkId link, double now_s) const {
    if (dragonfly_.shape().links == 1 || !dragonfly_.is_global(link)) {
        return link;
    }
    LinkId best = link;
    const LinkId first = dragonfly_.first_parallel(link);
    for (LinkId other = first; other < first + static_cast<LinkId>(dragonfly_.shape().links); ++other) {
        if (links_.wait_s(other, now_s) < links_.wait_s(best, now_s) && dragonfly_.are_side_by_side(link, other)) {
            best = other;
        }
    }
    return best;
}

void Router::add_way_to_group(Path& path, int& at, int group, int parallel) const {
    const int here = dragonfly_.group_of_switch(at);
    const int gateway = dragonfly_.gateway(here, group, parallel);
    if (gateway != at) {
        path.push(dragonfly_.local(at, gateway));
    }
    path.push(dragonfly_.global(here, group, parallel));
    at = dragonfly_.gateway(group, here, parallel);
}

void Router::add_way_to_terminal(Path& path, int at, int target) const {
    const int to = dragonfly_.switch_of(target);
    if (at != to) {
        path.push(dragonfly_.local(at, to));
    }
    path.push(dragonfly_.to_terminal(target));
}

Path Router::minimal(int from, int target, int parallel) const {
    Path path;
    const int group = dragonfly_.group_of_switch(dragonfly_.switch_of(target));
    if (group != dragonfly_.group_of_switch(from)) {
        add_way_to_group(path, from, group, parallel);
    }
    add_way_to_terminal(path, from, target);
    return path;
}

Path Router::by_group(int from, int third, int target, Rng& rng) const {
    Path path;
    const int group = dragonfly_.group_of_switch(dragonfly_.switch_of(target));
    add_way_to_group(path, from, third, draw_below(dragonfly_.shape().links, rng));
    add_way_to_group(path, from, group, draw_below(dragonfly_.shape().links, rng));
    add_way_to_terminal(path, from, target);
    return path;
}

/// By way of a third group or, within a group, of a third switch; empty where there is none.
Path Router::detour(int from, int target, Rng& rng) const {
    const int to = dragonfly_.switch_of(target);
    const int from_group = dragonfly_.group_of_switch(from);
    if (from_group != dragonfly_.group_of_switch(to)) {
        return dragonfly_.shape().groups > 2
                   ? by_group(from, third_group(from_group, dragonfly_.group_of_switch(to), rng), target, rng)
                   : Path{};
    }
    Path path;
    if (const int switches = dragonfly_.shape().switches; switches > 2) {
        int third = from;
        while (third == from || third == to) {
            third = from_group * switches + draw_below(switches, rng);
        }
        path.push(dragonfly_.local(from, third));
        add_way_to_terminal(path, third, target);
    }
    return path;
}

/// Neither the source's nor the target's, where these differ.
int Router::third_group(int from, int to, Rng& rng) const {
    AUSPEX_CHECK(dragonfly_.shape().groups > 2, "a detour needs a third group");
    int third = from;
    while (third == from || third == to) {
        third = draw_below(dragonfly_.shape().groups, rng);
    }
    return third;
}

double Router::wait_seen_s(const Path& path, double now_s) {
    double sum_s = 0;
    for (std::size_t hop = 0; hop < path.size && !dragonfly_.is_terminal(path.links[hop]); ++hop) {
        sum_s += known_wait_s(path.links[hop], now_s);
        if (routing_.sight == Sight::kOwnPorts || dragonfly_.is_global(path.links[hop])) {
            break;
        }
    }
    return sum_s;
}

double Router::known_wait_s(LinkId link, double now_s) {
    if (news_.empty()) {
        return links_.wait_s(link, now_s);
    }
    News& news = news_[link];
    if (news.at_s < 0 || now_s - news.at_s >= routing_.news_s) {
        news = {now_s, links_.wait_s(link, now_s)};
    }
    return news.wait_s;
}

}  // namespace auspex::packets
