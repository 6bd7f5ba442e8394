/// @file Classes by what links carry, and max-min on one link of each.
#include "sim/network/collective/link_classes.hpp"

#include <array>
#include <bit>
#include <deque>
#include <unordered_set>

#include "base/mix64.hpp"
#include "sim/network/sharing/node_classes.hpp"
#include "sim/network/sharing/sparse_links.hpp"

namespace auspex::network {
namespace {

constexpr std::uint32_t kNoClass = ~0U;

/// A link while classes are sought.
struct Candidate {
    double capacity;
    double wanted = 0;          ///< load x rate when alone, over all that may be active at once
    std::uint64_t carries = 0;  ///< which loads of which patterns, mixed
    std::uint32_t stands_for = kNoClass;
};

/// Those links that someone has asked for, side by side.
class Candidates {
 public:
    explicit Candidates(const Fabric& fabric) : fabric_(fabric), number_of_link_(fabric.link_count()) {}
    Candidate& operator[](std::uint32_t link) {
        std::uint32_t& number = number_of_link_[link];
        if (number == 0) {
            candidates_.push_back({fabric_.capacity_bytes_per_s(link)});
            number = static_cast<std::uint32_t>(candidates_.size());
        }
        return candidates_[number - 1];
    }

 private:
    const Fabric& fabric_;
    SparseLinks<std::uint32_t> number_of_link_;  ///< from 1 on
    std::deque<Candidate> candidates_;
};

EvenLoads even_loads(std::span<const FlowPattern> patterns, int nodes) {
    std::vector<const PatternLoads*> loads;
    for (const FlowPattern& pattern : patterns) {
        loads.push_back(&pattern.loads);
    }
    return {loads, nodes};
}

/// Links that all who are asked for could fill, by first mention, with what they carry.
std::vector<std::uint32_t> contended_links(std::span<const FlowPattern> patterns, const EvenLoads& loads,
                                           std::span<const std::uint32_t> asked, const NodeClasses& nodes,
                                           Candidates& candidates) {
    for (const std::uint32_t id : asked) {
        nodes.for_each_representative(loads[id], [&](std::uint32_t link, double load) {
            candidates[link].wanted += load * patterns[id].solo_rate;
        });
    }
    std::vector<std::uint32_t> links;
    for (std::uint32_t id = 0; id < patterns.size(); ++id) {
        nodes.for_each_representative(loads[id], [&](std::uint32_t link, double load) {
            Candidate& on = candidates[link];
            if (is_contended(on.wanted, on.capacity)) {
                if (on.carries == 0) {
                    links.push_back(link);
                    on.carries = mix64(std::bit_cast<std::uint64_t>(on.capacity));
                }
                on.carries += mix64(id ^ mix64(std::bit_cast<std::uint64_t>(load)));
            }
        });
    }
    return links;
}

}  // namespace

/// Links of equal capacity that carry the same loads of the same patterns fill together: one stands for them all. Links
/// that could carry everyone at once stand for nothing, and neither do those of a node that is like an earlier one.
void LinkClasses::build(std::span<const FlowPattern> patterns, std::span<const std::uint32_t> asked,
                        const Fabric& fabric) {
    const EvenLoads loads = even_loads(patterns, fabric.nodes());
    const NodeClasses nodes(loads);
    Candidates candidates(fabric);
    std::unordered_set<std::uint64_t> known;
    std::array<std::uint64_t, 256> known_lately{};  // most links are of a few classes
    capacities_.clear();
    for (const std::uint32_t link : contended_links(patterns, loads, asked, nodes, candidates)) {
        Candidate& on = candidates[link];
        std::uint64_t& lately = known_lately[on.carries % known_lately.size()];
        if (lately != on.carries && known.insert(on.carries).second) {
            on.stands_for = static_cast<std::uint32_t>(capacities_.size());
            capacities_.push_back(on.capacity);
        }
        lately = on.carries;
    }
    loads_.assign(patterns.size(), {});
    solo_rates_.clear();
    for (std::uint32_t id = 0; id < patterns.size(); ++id) {
        solo_rates_.push_back(patterns[id].solo_rate);
        nodes.for_each_representative(loads[id], [&](std::uint32_t link, double load) {
            if (const std::uint32_t number = candidates[link].stands_for; number != kNoClass) {
                loads_[id].push_back({number, load});
            }
        });
    }
    find_interference();
}

void LinkClasses::find_interference() {
    std::vector<std::vector<std::uint32_t>> users(capacities_.size());
    interferes_.assign(loads_.size(), std::vector<bool>(loads_.size(), false));
    for (std::uint32_t id = 0; id < loads_.size(); ++id) {
        interferes_[id][id] = true;
        for (const LinkLoad& on : loads_[id]) {
            for (const std::uint32_t other : users[on.link]) {
                interferes_[id][other] = interferes_[other][id] = true;
            }
            users[on.link].push_back(id);
        }
    }
}

/// On the classes of links that the set wants more of than they have, each pattern held to its rate when alone by a
/// link of its own.
std::vector<double> LinkClasses::rates(std::span<const std::uint32_t> set) {
    wanted_.resize(capacities_.size());
    number_of_class_.resize(capacities_.size());
    std::vector<std::uint32_t> links;
    for (const std::uint32_t id : set) {
        for (const LinkLoad& on : loads_[id]) {
            if (wanted_[on.link] == 0) {
                links.push_back(on.link);
            }
            wanted_[on.link] += on.load * solo_rates_[id];
        }
    }
    std::vector<double> capacities;
    for (const std::uint32_t link : links) {
        const bool contended = is_contended(wanted_[link], capacities_[link]);
        number_of_class_[link] = contended ? static_cast<std::uint32_t>(capacities.size()) : kNoLink;
        if (contended) {
            capacities.push_back(capacities_[link]);
        }
        wanted_[link] = 0;
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

}  // namespace auspex::network
