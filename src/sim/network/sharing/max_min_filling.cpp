/// @file Progressive filling: the link that fills first fixes the rate of everything on it.
#include "sim/network/sharing/max_min_filling.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace auspex::network {

double MaxMinFilling::Link::full_at() const { return std::max(0.0, left - level * frozen_at_level) / rising; }

void MaxMinFilling::Link::freeze(double at, double load) {
    if (at != level) {
        left -= level * frozen_at_level;
        level = at;
        frozen_at_level = 0;
    }
    frozen_at_level += load;
    rising -= load;
    --classes;
}

std::span<const double> MaxMinFilling::solve(std::span<const double> capacities, std::span<const LoadList> classes) {
    list_links(capacities, classes);
    list_users(classes);
    fill(classes);
    for (const Link& link : links_) {
        index_[link.number] = kUnused;
    }
    return rates_;
}

/// index_ is kUnused throughout between two solutions, so that only links that are used are visited.
void MaxMinFilling::list_links(std::span<const double> capacities, std::span<const LoadList> classes) {
    links_.clear();
    index_.resize(std::max(index_.size(), capacities.size()), kUnused);
    for (const LoadList& loads : classes) {
        for (const LinkLoad& on : loads) {
            AUSPEX_CHECK(on.link < capacities.size() && on.load > 0, "loads are positive, on links that exist");
            std::uint32_t& index = index_[on.link];
            if (index == kUnused) {
                index = static_cast<std::uint32_t>(links_.size());
                links_.emplace_back().number = on.link;
                links_.back().left = capacities[on.link];
            }
            links_[index].rising += on.load;
            ++links_[index].classes;
        }
    }
}

void MaxMinFilling::list_users(std::span<const LoadList> classes) {
    std::uint32_t users = 0;
    for (Link& link : links_) {
        link.first_user = users;
        users += link.classes;
    }
    users_.resize(users);
    for (std::uint32_t c = 0; c < classes.size(); ++c) {
        for (const LinkLoad& on : classes[c]) {
            users_[links_[index_[on.link]].first_user++] = c;
        }
    }
    for (Link& link : links_) {
        link.first_user -= link.classes;
    }
}

void MaxMinFilling::fill(std::span<const LoadList> classes) {
    rates_.assign(classes.size(), std::numeric_limits<double>::infinity());
    bottlenecks_.assign(classes.size(), kUnused);
    next_.clear();
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
        next_.push_back({links_[l].full_at(), l});
    }
    std::make_heap(next_.begin(), next_.end());
    while (!next_.empty()) {
        std::pop_heap(next_.begin(), next_.end());
        const auto [expected, l] = next_.back();
        next_.pop_back();
        if (links_[l].classes == 0) {
            continue;
        }
        // A link fills later than expected if some of its classes were frozen elsewhere meanwhile.
        const double level = links_[l].full_at();
        if (level > expected) {
            next_.push_back({level, l});
            std::push_heap(next_.begin(), next_.end());
            continue;
        }
        for (std::uint32_t user = links_[l].first_user; links_[l].classes > 0; ++user) {
            const std::uint32_t c = users_[user];
            if (bottlenecks_[c] == kUnused) {
                bottlenecks_[c] = links_[l].number;
                rates_[c] = level;
                for (const LinkLoad& on : classes[c]) {
                    links_[index_[on.link]].freeze(level, on.load);
                }
            }
        }
    }
}

std::vector<double> max_min_rates(std::span<const double> capacities, std::span<const LoadList> classes) {
    MaxMinFilling filling;
    const std::span<const double> rates = filling.solve(capacities, classes);
    return {rates.begin(), rates.end()};
}

}  // namespace auspex::network
