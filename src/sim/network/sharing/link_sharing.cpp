/// @file Contended links join transfers into components; a change solves the components that it touches.
#include "sim/network/sharing/link_sharing.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace auspex::network {
LinkSharing::LinkSharing(std::span<const double> capacities) : links_(capacities.size()) {
    for (std::size_t l = 0; l < capacities.size(); ++l) {
        links_[l].capacity = capacities[l];
    }
}

bool LinkSharing::Link::is_contended() const { return network::is_contended(demand, capacity); }

LinkSharing::Id LinkSharing::start(const Demand& demand) {
    if (free_.empty()) {
        free_.push_back(static_cast<Id>(active_.size()));
        active_.emplace_back();
    }
    const Id id = free_.back();
    free_.pop_back();
    Active& a = active_[id];
    a.demand = demand;
    a.rate = 0;
    a.alive = true;
    a.started = true;
    a.user_positions.clear();
    for (std::uint32_t i = 0; i < demand.loads.size(); ++i) {
        Link& link = links_[demand.loads[i].link];
        link.demand += demand.loads[i].load * demand.solo_rate;
        a.user_positions.push_back(static_cast<std::uint32_t>(link.users.size()));
        link.users.push_back({id, i});
        if (link.is_contended()) {
            dirty_links_.push_back(demand.loads[i].link);
        }
    }
    started_.push_back(id);
    return id;
}

void LinkSharing::stop(Id id) {
    Active& a = active_[id];
    AUSPEX_CHECK(a.alive, "only what is active stops");
    for (std::uint32_t i = 0; i < a.demand.loads.size(); ++i) {
        const std::uint32_t l = a.demand.loads[i].link;
        Link& link = links_[l];
        if (link.is_contended()) {
            dirty_links_.push_back(l);
        }
        const User moved = link.users.back();
        link.users[a.user_positions[i]] = moved;
        active_[moved.id].user_positions[moved.load] = a.user_positions[i];
        link.users.pop_back();
        link.demand = link.users.empty() ? 0 : link.demand - a.demand.loads[i].load * a.demand.solo_rate;
    }
    a.alive = false;
    a.started = false;
    free_.push_back(id);
}

std::span<const LinkSharing::Id> LinkSharing::update_rates() {
    ++mark_;
    reached_.clear();
    reached_links_.clear();
    changed_.clear();
    for (const Id id : started_) {
        reach(id);
    }
    for (const std::uint32_t l : dirty_links_) {
        reach_users(l);
    }
    started_.clear();
    dirty_links_.clear();
    for (std::size_t next = 0; next < reached_.size(); ++next) {
        for (const LinkLoad& on : active_[reached_[next]].demand.loads) {
            if (links_[on.link].is_contended()) {
                reach_users(on.link);
            }
        }
    }
    std::sort(reached_.begin(), reached_.end());
    solve_reached();
    return changed_;
}

void LinkSharing::reach(Id id) {
    Active& a = active_[id];
    if (a.alive && a.mark != mark_) {
        a.mark = mark_;
        reached_.push_back(id);
    }
}

void LinkSharing::reach_users(std::uint32_t l) {
    Link& link = links_[l];
    if (link.mark == mark_) {
        return;
    }
    link.mark = mark_;
    if (link.is_contended()) {
        link.index = static_cast<std::uint32_t>(reached_links_.size());
        reached_links_.push_back(l);
    }
    for (const User& user : link.users) {
        reach(user.id);
    }
}

/// Links are numbered anew, the contended ones first, then one for each transfer that holds it to its rate when alone.
void LinkSharing::solve_reached() {
    capacities_.clear();
    loads_.clear();
    first_.clear();
    for (const std::uint32_t l : reached_links_) {
        capacities_.push_back(links_[l].capacity);
    }
    for (const Id id : reached_) {
        const Active& a = active_[id];
        first_.push_back(loads_.size());
        for (const LinkLoad& on : a.demand.loads) {
            if (links_[on.link].is_contended()) {
                loads_.push_back({links_[on.link].index, on.load});
            }
        }
        loads_.push_back({static_cast<std::uint32_t>(capacities_.size()), 1});
        capacities_.push_back(a.demand.solo_rate);
    }
    first_.push_back(loads_.size());
    classes_.clear();
    for (std::size_t i = 0; i < reached_.size(); ++i) {
        classes_.push_back(LoadList(loads_).subspan(first_[i], first_[i + 1] - first_[i]));
    }
    solved_ += reached_.size();
    const std::vector<double> rates = max_min_rates(capacities_, classes_);
    for (std::size_t i = 0; i < reached_.size(); ++i) {
        Active& a = active_[reached_[i]];
        if (a.started || a.rate != rates[i]) {
            a.rate = rates[i];
            a.started = false;
            changed_.push_back(reached_[i]);
        }
    }
}

}  // namespace auspex::network
