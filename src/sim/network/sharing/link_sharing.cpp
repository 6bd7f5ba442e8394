/// @file A change is solved for those that it moves, with their neighbours held.
#include "sim/network/sharing/link_sharing.hpp"

#include <algorithm>
#include <cmath>

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
    a.bottleneck = kOwn;
    a.alive = true;
    a.started = true;
    a.user_positions.clear();
    for (std::uint32_t i = 0; i < demand.loads.size(); ++i) {
        Link& link = links_[demand.loads[i].link];
        link.demand += demand.loads[i].load * demand.solo_rate;
        a.user_positions.push_back(static_cast<std::uint32_t>(link.users.size()));
        link.users.push_back({id, i});
        note_change(demand.loads[i].link);
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
        note_change(l);
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

void LinkSharing::note_change(std::uint32_t l) {
    Link& link = links_[l];
    if (!link.changed && link.is_contended()) {
        link.changed = true;
        changed_links_.push_back(l);
    }
}

std::span<const LinkSharing::Id> LinkSharing::update_rates() {
    ++mark_;
    reached_.clear();
    reached_links_.clear();
    moving_.clear();
    changed_.clear();
    for (const Id id : started_) {
        if (active_[id].alive) {
            move(id);
        }
    }
    for (const std::uint32_t l : changed_links_) {
        links_[l].changed = false;
        for (const User& user : links_[l].users) {
            if (active_[user.id].bottleneck == l) {
                move(user.id);
            }
        }
    }
    started_.clear();
    changed_links_.clear();
    for (std::size_t next = 0; next < moving_.size();) {
        for (; next < moving_.size(); ++next) {
            reach_links(moving_[next]);
        }
        solve_reached();
        move_who_cannot_be_held();
    }
    settle();
    return changed_;
}

void LinkSharing::reach(Id id) {
    Active& a = active_[id];
    if (a.mark != mark_) {
        a.mark = mark_;
        a.moves = false;
        a.index = static_cast<std::uint32_t>(reached_.size());
        reached_.push_back(id);
    }
}

void LinkSharing::move(Id id) {
    reach(id);
    if (!active_[id].moves) {
        active_[id].moves = true;
        moving_.push_back(id);
    }
}

void LinkSharing::reach_links(Id id) {
    for (const LinkLoad& on : active_[id].demand.loads) {
        Link& link = links_[on.link];
        if (link.mark != mark_ && link.is_contended()) {
            link.mark = mark_;
            link.index = static_cast<std::uint32_t>(reached_links_.size());
            reached_links_.push_back(on.link);
            for (const User& user : link.users) {
                reach(user.id);
            }
        }
    }
}

/// Links are numbered anew: first one for each transfer that holds it to its solo rate, or to the rate that it has,
/// then those reached. A bottleneck that is among these holds by itself who is held.
void LinkSharing::solve_reached() {
    capacities_.clear();
    for (const Id id : reached_) {
        const Active& a = active_[id];
        capacities_.push_back(a.moves ? a.demand.solo_rate : a.rate);
    }
    for (const std::uint32_t l : reached_links_) {
        capacities_.push_back(links_[l].capacity);
    }
    list_loads();
    solved_ += reached_.size();
    rates_ = filling_.solve(capacities_, classes_);
}

/// By what the links know of their users: a transfer that is held may have many other links.
void LinkSharing::list_loads() {
    end_.assign(reached_.size(), 0);
    const auto has_own_link = [this](const Active& a) { return a.moves || !is_reached(a.bottleneck); };
    for (const std::uint32_t l : reached_links_) {
        for (const User& user : links_[l].users) {
            ++end_[active_[user.id].index];
        }
    }
    std::size_t begin = 0;
    for (std::size_t i = 0; i < reached_.size(); ++i) {
        const std::size_t count = end_[i];
        end_[i] = begin;
        begin += count + (has_own_link(active_[reached_[i]]) ? 1 : 0);
    }
    loads_.resize(begin);
    for (std::uint32_t i = 0; i < reached_.size(); ++i) {
        if (has_own_link(active_[reached_[i]])) {
            loads_[end_[i]++] = {i, 1};
        }
    }
    for (const std::uint32_t l : reached_links_) {
        const auto number = static_cast<std::uint32_t>(reached_.size() + links_[l].index);
        for (const User& user : links_[l].users) {
            const Active& a = active_[user.id];
            loads_[end_[a.index]++] = {number, a.demand.loads[user.load].load};
        }
    }
    classes_.clear();
    for (std::size_t i = 0; i < reached_.size(); ++i) {
        const std::size_t first = i == 0 ? 0 : end_[i - 1];
        classes_.push_back(LoadList(loads_).subspan(first, end_[i] - first));
    }
}

/// Rates are solved anew where loads are not whole numbers, in whatever order they are summed.
void LinkSharing::move_who_cannot_be_held() {
    constexpr double kSummation = kRateRounding / 1000;
    for (std::size_t i = 0; i < reached_.size(); ++i) {
        const Active& a = active_[reached_[i]];
        if (!a.moves && std::abs(rates_[i] - a.rate) > kSummation * a.rate) {
            move(reached_[i]);
        }
    }
}

void LinkSharing::settle() {
    const auto own_links = static_cast<std::uint32_t>(reached_.size());
    for (std::size_t i = 0; i < reached_.size(); ++i) {
        Active& a = active_[reached_[i]];
        if (a.moves || is_reached(a.bottleneck)) {
            const std::uint32_t full = filling_.bottlenecks()[i];
            a.bottleneck = full < own_links ? kOwn : reached_links_[full - own_links];
        }
        if (a.moves && (a.started || a.rate != rates_[i])) {
            a.rate = rates_[i];
            a.started = false;
            changed_.push_back(reached_[i]);
        }
    }
    std::sort(changed_.begin(), changed_.end());
}

}  // namespace auspex::network
