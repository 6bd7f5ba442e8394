/// @file Colour refinement of the graph of flows and links.
#include "sim/flow_fold.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"

namespace auspex {
namespace {

using Colour = std::uint64_t;
constexpr std::uint32_t kNone = 0xffffffff;

/// splitmix64's finaliser: neighbouring inputs give unrelated outputs, so that sums of them tell multisets apart.
Colour mixed(Colour x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

Colour joined(Colour a, Colour b) { return mixed(a ^ mixed(b)); }

std::size_t count_different(std::span<const Colour> colours) {
    std::vector<Colour> sorted(colours.begin(), colours.end());
    std::sort(sorted.begin(), sorted.end());
    return static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
}

/// The links that flows touch, numbered in the order of first touch.
struct UsedLinks {
    std::vector<std::uint32_t> index_of_leg;  ///< by leg of the flow set
    std::vector<std::uint32_t> links;
};

UsedLinks used_links(const FlowSet& flows, std::size_t fabric_links) {
    UsedLinks used;
    used.index_of_leg.reserve(flows.legs.size());
    std::vector<std::uint32_t> index(fabric_links, kNone);
    for (const Leg& leg : flows.legs) {
        if (index[leg.link] == kNone) {
            index[leg.link] = static_cast<std::uint32_t>(used.links.size());
            used.links.push_back(leg.link);
        }
        used.index_of_leg.push_back(index[leg.link]);
    }
    return used;
}

struct Colours {
    std::vector<Colour> flows, links;
};

/// One round: every flow takes in the colours of its links, then every link those of its flows.
void refine(const FlowSet& flows, const UsedLinks& used, Colours& colours) {
    std::vector<Colour> seen(colours.links.size(), 0);
    for (std::size_t f = 0; f < flows.count(); ++f) {
        Colour sum = 0;
        for (std::uint32_t i = flows.begin[f]; i < flows.begin[f + 1]; ++i) {
            sum += joined(colours.links[used.index_of_leg[i]], std::bit_cast<Colour>(flows.legs[i].weight));
        }
        colours.flows[f] = joined(colours.flows[f], sum);
        for (std::uint32_t i = flows.begin[f]; i < flows.begin[f + 1]; ++i) {
            seen[used.index_of_leg[i]] += joined(colours.flows[f], std::bit_cast<Colour>(flows.legs[i].weight));
        }
    }
    for (std::size_t l = 0; l < seen.size(); ++l) {
        colours.links[l] = joined(colours.links[l], seen[l]);
    }
}

Colours stable_colours(const FlowSet& flows, const UsedLinks& used, std::span<const double> capacity) {
    Colours colours;
    for (const std::uint32_t owner : flows.owner) {
        colours.flows.push_back(mixed(owner));
    }
    for (const std::uint32_t link : used.links) {
        colours.links.push_back(mixed(std::bit_cast<Colour>(capacity[link])));
    }
    std::size_t flow_classes = 0, link_classes = 0;
    for (;;) {
        refine(flows, used, colours);
        const std::size_t more_flows = count_different(colours.flows), more_links = count_different(colours.links);
        if (more_flows == flow_classes && more_links == link_classes) {
            return colours;
        }
        flow_classes = more_flows;
        link_classes = more_links;
    }
}

/// Colours as 0, 1, 2, ... in the order in which they first appear.
std::vector<std::uint32_t> numbered(std::span<const Colour> colours) {
    std::unordered_map<Colour, std::uint32_t> number_of;
    std::vector<std::uint32_t> numbers;
    numbers.reserve(colours.size());
    for (const Colour colour : colours) {
        numbers.push_back(number_of.try_emplace(colour, static_cast<std::uint32_t>(number_of.size())).first->second);
    }
    return numbers;
}

}  // namespace

FoldedFlows fold(const FlowSet& flows, std::span<const double> capacity) {
    const UsedLinks used = used_links(flows, capacity.size());
    const Colours colours = stable_colours(flows, used, capacity);
    const std::vector<std::uint32_t> class_of_link = numbered(colours.links);
    FoldedFlows folded;
    folded.class_of_flow = numbered(colours.flows);
    // One link stands for its class: what the flows of a class put on that link is the weight of the flow class on the
    // link class.
    std::vector<char> stands_for_class;
    for (std::size_t l = 0; l < class_of_link.size(); ++l) {
        const bool is_first = class_of_link[l] == folded.capacities.size();
        stands_for_class.push_back(is_first ? 1 : 0);
        if (is_first) {
            folded.capacities.push_back(capacity[used.links[l]]);
        }
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> weights;
    std::uint32_t classes = 0;
    for (std::size_t f = 0; f < flows.count(); ++f) {
        classes = std::max(classes, folded.class_of_flow[f] + 1);
        for (std::uint32_t i = flows.begin[f]; i < flows.begin[f + 1]; ++i) {
            const std::uint32_t link = used.index_of_leg[i];
            if (stands_for_class[link] != 0) {
                weights[{folded.class_of_flow[f], class_of_link[link]}] += flows.legs[i].weight;
            }
        }
    }
    folded.classes.resize(classes);
    for (const auto& [key, weight] : weights) {
        folded.classes[key.first].links.push_back(key.second);
        folded.classes[key.first].weights.push_back(weight);
    }
    return folded;
}

}  // namespace auspex
