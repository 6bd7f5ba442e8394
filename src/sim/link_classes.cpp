/// @file Classes by what links carry, and max-min on one link of each.
#include "sim/link_classes.hpp"

#include <array>
#include <bit>
#include <map>
#include <unordered_set>

namespace auspex {
namespace {

/// splitmix64's finaliser: neighbouring inputs give unrelated outputs, so that sums of them tell sets apart.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace

/// Links of equal capacity that carry the same loads of the same patterns fill together: one stands for them all. Links
/// that could carry everyone at once stand for nothing.
void LinkClasses::fold(std::span<const FlowPattern> patterns, std::span<const double> wanted,
                       std::span<const double> capacities) {
    std::vector<std::uint64_t> carries(capacities.size(), 0);
    std::vector<std::uint32_t> links;
    for (std::uint32_t id = 0; id < patterns.size(); ++id) {
        for (const LinkLoad& on : patterns[id].loads) {
            if (is_contended(wanted[on.link], capacities[on.link])) {
                if (carries[on.link] == 0) {
                    links.push_back(on.link);
                    carries[on.link] = mixed(std::bit_cast<std::uint64_t>(capacities[on.link]));
                }
                carries[on.link] += mixed(id ^ mixed(std::bit_cast<std::uint64_t>(on.load)));
            }
        }
    }
    constexpr std::uint32_t kNoClass = ~0U;
    std::unordered_set<std::uint64_t> known;
    std::array<std::uint64_t, 256> known_lately{};  // most links are of a few classes
    std::vector<std::uint32_t> stands_for(capacities.size(), kNoClass);
    capacities_.clear();
    for (const std::uint32_t link : links) {
        std::uint64_t& lately = known_lately[carries[link] % known_lately.size()];
        if (lately != carries[link] && known.insert(carries[link]).second) {
            stands_for[link] = static_cast<std::uint32_t>(capacities_.size());
            capacities_.push_back(capacities[link]);
        }
        lately = carries[link];
    }
    loads_.assign(patterns.size(), {});
    solo_rates_.clear();
    for (std::uint32_t id = 0; id < patterns.size(); ++id) {
        solo_rates_.push_back(patterns[id].solo_rate);
        for (const LinkLoad& on : patterns[id].loads) {
            if (stands_for[on.link] != kNoClass) {
                loads_[id].push_back({stands_for[on.link], on.load});
            }
        }
    }
    find_rivals();
}

void LinkClasses::find_rivals() {
    std::vector<std::vector<std::uint32_t>> users(capacities_.size());
    rivals_.assign(loads_.size(), std::vector<bool>(loads_.size(), false));
    for (std::uint32_t id = 0; id < loads_.size(); ++id) {
        rivals_[id][id] = true;
        for (const LinkLoad& on : loads_[id]) {
            for (const std::uint32_t other : users[on.link]) {
                rivals_[id][other] = rivals_[other][id] = true;
            }
            users[on.link].push_back(id);
        }
    }
}

/// On the classes of links that the set wants more of than they have, each pattern held to its rate when alone by a
/// link of its own.
std::vector<double> LinkClasses::rates(std::span<const std::uint32_t> set) {
    std::map<std::uint32_t, double> wanted_here;
    for (const std::uint32_t id : set) {
        for (const LinkLoad& on : loads_[id]) {
            wanted_here[on.link] += on.load * solo_rates_[id];
        }
    }
    std::vector<double> capacities;
    number_of_class_.resize(capacities_.size());
    for (const auto& [link, bytes_per_s] : wanted_here) {
        const bool contended = is_contended(bytes_per_s, capacities_[link]);
        number_of_class_[link] = contended ? static_cast<std::uint32_t>(capacities.size()) : kNoLink;
        if (contended) {
            capacities.push_back(capacities_[link]);
        }
    }
    std::vector<std::vector<LinkLoad>> loads(set.size());
    for (std::size_t i = 0; i < set.size(); ++i) {
        for (const LinkLoad& on : loads_[set[i]]) {
            if (number_of_class_[on.link] != kNoLink) {
                loads[i].push_back({number_of_class_[on.link], on.load});
            }
        }
        loads[i].push_back({static_cast<std::uint32_t>(capacities.size()), 1});
        capacities.push_back(solo_rates_[set[i]]);
    }
    return max_min_rates(capacities, std::vector<LoadList>(loads.begin(), loads.end()));
}

}  // namespace auspex
