/// @file All flows of an exchange at once, by how many members each switch and each group has.
#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "sim/network/fabric/dragonfly_links.hpp"

namespace auspex::network {

bool DragonflyLinks::sums_exchanges() const {
    return recipe_.routing != models::RoutingKind::kMinimal && std::has_single_bit(switches_);
}

/// Of the members s of a switch, g of its group and n of all: s (n - s) leave it and as many come, those for its group
/// by the links of the switch to each other one. Legs as route_in_group and route_between_groups take them.
void DragonflyLinks::route_exchange(std::span<const double> members, bool everywhere, InterNodeRoute& crossings) const {
    crossings.legs.clear();
    const double all = std::accumulate(members.begin(), members.end(), 0.0);
    std::vector<double> of_group(groups_, 0);
    std::set<std::vector<double>> known;
    const auto used = members.size() - static_cast<std::size_t>(std::count(members.begin(), members.end(), 0));
    bool in_group = false;
    for (std::uint32_t group = 0; group < groups_; ++group) {
        std::vector<double> of_switch(switches_, 0);
        for (std::uint32_t s = 0; s < switches_ && group * switches_ + s < members.size(); ++s) {
            of_switch[s] = members[group * switches_ + s];
        }
        of_group[group] = std::accumulate(of_switch.begin(), of_switch.end(), 0.0);
        in_group = in_group || std::count_if(of_switch.begin(), of_switch.end(), [](double m) { return m > 0; }) > 1;
        if (everywhere || known.insert(of_switch).second) {
            exchange_in_group(group, of_switch, all, crossings);
        }
    }
    exchange_between_groups(of_group, crossings);
    crossings.leaves_group = std::count_if(of_group.begin(), of_group.end(), [](double m) { return m > 0; }) > 1;
    const double switches = crossings.leaves_group ? passed_between_groups() : 0;
    const double inside = in_group ? passed_in_group() : used > 0 ? passed_on_switch() : 0;
    crossings.latency_s = std::max(switches, inside) * recipe_.switch_latency_s;
}

void DragonflyLinks::exchange_in_group(std::uint32_t group, std::span<const double> members, double all,
                                       InterNodeRoute& crossings) const {
    const double here = std::accumulate(members.begin(), members.end(), 0.0);
    if (switches_ == 1 || here == 0) {
        return;
    }
    double pooled = 2 * to_gateway_ * here * (all - here);
    for (std::uint32_t from = 0; from < switches_; ++from) {
        if (members[from] == 0) {
            continue;
        }
        for (std::uint32_t to = 0; to < switches_; ++to) {
            if (from != to && members[to] > 0) {
                crossings.legs.push_back({local(group, from, to), members[from] * members[to]});
                pooled += (detours_in_group() ? 2 : 1) * members[from] * members[to];
            }
        }
        if (all > members[from]) {
            crossings.legs.push_back({spread({group, from}, 0), members[from] * (all - members[from])});
            crossings.legs.push_back({spread({group, from}, 1), members[from] * (all - members[from])});
        }
    }
    if (pooled > 0) {
        crossings.legs.push_back({local_pool_ + group, pooled});
    }
}

void DragonflyLinks::exchange_between_groups(std::span<const double> members_of_group,
                                             InterNodeRoute& crossings) const {
    const double all = std::accumulate(members_of_group.begin(), members_of_group.end(), 0.0);
    double pooled = 0;
    for (std::uint32_t from = 0; from < groups_; ++from) {
        const double here = members_of_group[from], leave = here * (all - here);
        if (leave == 0) {
            continue;
        }
        for (std::uint32_t to = 0; to < groups_; ++to) {
            if (from != to && members_of_group[to] > 0) {
                crossings.legs.push_back({global_ + from * groups_ + to, here * members_of_group[to]});
            }
        }
        crossings.legs.push_back({global_spread_ + 2 * from, leave});
        crossings.legs.push_back({global_spread_ + 2 * from + 1, leave});
        pooled += (recipe_.routing == models::RoutingKind::kValiant ? 2 : 1) * leave;
    }
    if (pooled > 0) {
        crossings.legs.push_back({global_pool_, pooled});
    }
}

}  // namespace auspex::network
