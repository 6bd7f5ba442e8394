#pragma once
/// @file The uplinks of a job's leaves and pods, and those that a flow takes.
#include <cstdint>
#include <string>

#include "models/machine.hpp"
#include "sim/network/fabric/job_blocks.hpp"
#include "sim/network/fabric/link_ranges.hpp"
#include "sim/network/fabric/route.hpp"
#include "sim/network/fabric/tree.hpp"
#include "sim/network/node/link_kind.hpp"

namespace auspex::network {

/// Fat trees and rails. Adaptive: all uplinks of a leaf or pod are one link. Minimal: each by itself, and a flow goes
/// up by pinned_uplinks() of its destination and down by those with the same numbers.
class TreeLinks {
 public:
    TreeLinks(const models::Machine& machine, double efficiency, JobBlocks job, LinkRanges& links);
    void route_between(int from_node, int from_nic, int to_node, int to_nic, InterNodeRoute& route) const;
    [[nodiscard]] std::string name(LinkKind kind, std::uint32_t link) const;
    [[nodiscard]] int attachment(int node, int nic) const;
    [[nodiscard]] const JobBlocks& job() const { return job_; }

 private:
    [[nodiscard]] std::uint32_t leaf_of(int node, int nic) const;
    [[nodiscard]] std::uint32_t pod_of(int node) const;

    models::FabricRecipe recipe_;
    TreeShape shape_;
    JobBlocks job_;
    JobBlocks pods_;                                    ///< no blocks with two levels
    int nics_per_node_;                                 ///< destinations that a node is, for minimal routing
    std::uint32_t leaf_uplinks_ = 1, pod_uplinks_ = 1;  ///< with a number each
    std::uint32_t leaf_ = kNoLink, pod_ = kNoLink;
};

}  // namespace auspex::network
