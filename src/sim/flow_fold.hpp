#pragma once
/// @file Folds flows that symmetry makes equal into classes, so that max-min is solved on a few classes and not on
/// thousands of flows.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/flow_pattern.hpp"
#include "sim/max_min.hpp"

namespace auspex {

struct FoldedFlows {
    std::vector<double> capacities;  ///< of one link of each class of links
    std::vector<FlowClass> classes;
    std::vector<std::uint32_t> class_of_flow;
};

/// Splits flows and links until all flows of a class cross the same classes of links with the same weights, and all
/// links of a class carry the same weights of the same classes of flows (colour refinement). Equal classes stay equal
/// at every moment of progressive filling, so the rates are those of the flows one by one. Flows of different owners
/// are never of one class. `capacity` is by link of the fabric.
[[nodiscard]] FoldedFlows fold(const FlowSet& flows, std::span<const double> capacity);

}  // namespace auspex
