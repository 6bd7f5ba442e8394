#pragma once
/// @file Which nodes of a job carry the same loads.
#include <cstdint>
#include <vector>

#include "sim/network/sharing/even_loads.hpp"
#include "sim/network/sharing/pattern_loads.hpp"
#include "sim/network/sharing/sparse_links.hpp"

namespace auspex::network {

/// Nodes that all patterns load equally are a class, represented by its first node.
class NodeClasses {
 public:
    /// Of all these.
    explicit NodeClasses(const EvenLoads& loads);
    explicit NodeClasses(int nodes) : signatures_(static_cast<std::size_t>(nodes), 0) {}
    void add(const PatternLoads& loads);
    /// After all are added.
    void build();

    /// Calls visit(link, load) for what the pattern puts on first nodes and between nodes, by rising link.
    template <class Visit>
    void for_each_representative(const PatternLoads& loads, Visit&& visit) const {
        for (const PatternLoads::Part& part : loads.parts()) {
            if (part.node != PatternLoads::kBetweenNodes && representative_[part.node] != part.node) {
                continue;
            }
            const std::uint32_t first = loads.first_link(part);
            for (const LinkLoad& on : loads.loads(part)) {
                visit(first + on.link, on.load);
            }
        }
    }
    /// What is on first nodes, `on_firsts`, on all that are like them, with what is between nodes; takes it out there.
    [[nodiscard]] PatternLoads expand(SparseLinks<double>& on_firsts, std::uint32_t links_per_node) const;

 private:
    std::uint64_t added_ = 0;
    std::vector<std::uint64_t> signatures_;      ///< by node
    std::vector<std::uint32_t> representative_;  ///< by node: the first of its class
};

}  // namespace auspex::network
