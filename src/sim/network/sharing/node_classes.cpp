/// @file Classes of nodes by sums of what each pattern puts on them.
#include "sim/network/sharing/node_classes.hpp"

#include <unordered_map>

#include "base/mix64.hpp"

namespace auspex::network {

NodeClasses::NodeClasses(const EvenLoads& loads) : NodeClasses(loads.nodes()) {
    for (std::size_t i = 0; i < loads.size(); ++i) {
        add(loads[i]);
    }
    build();
}

void NodeClasses::add(const PatternLoads& loads) {
    ++added_;
    for (const PatternLoads::Part& part : loads.parts()) {
        if (part.node != PatternLoads::kBetweenNodes) {
            signatures_[part.node] += mix64(added_ ^ mix64(part.begin));
        }
    }
}

void NodeClasses::build() {
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    representative_.clear();
    for (std::uint32_t node = 0; node < signatures_.size(); ++node) {
        representative_.push_back(known.try_emplace(signatures_[node], node).first->second);
    }
}

PatternLoads NodeClasses::expand(SparseLinks<double>& on_firsts, std::uint32_t links_per_node) const {
    std::vector<LinkLoad> loads;
    on_firsts.drain([&](std::uint32_t link, double load) { loads.push_back({link, load}); });
    constexpr std::size_t kNoPart = ~std::size_t{0};
    std::vector<std::size_t> part_of_node(representative_.size(), kNoPart);
    PatternLoads all(links_per_node);
    const auto part = [&](auto begin, auto end) {
        return LoadList(loads).subspan(static_cast<std::size_t>(begin - loads.begin()),
                                       static_cast<std::size_t>(end - begin));
    };
    auto next = loads.begin();
    for (std::uint32_t node = 0; node < representative_.size(); ++node) {
        const auto begin = next;
        for (; next != loads.end() && next->link < (node + 1) * links_per_node; ++next) {
            next->link -= node * links_per_node;
        }
        if (begin != next) {
            part_of_node[node] = all.parts().size();
            all.add(node, part(begin, next));
        } else if (const std::size_t like = part_of_node[representative_[node]]; like != kNoPart) {
            all.repeat(node, like);
        }
    }
    if (next != loads.end()) {
        all.add(PatternLoads::kBetweenNodes, part(next, loads.end()));
    }
    return all;
}

}  // namespace auspex::network
