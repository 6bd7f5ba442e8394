#pragma once
/// @file Max-min fair rates of flows over links, by progressive filling: a pure solver.
#include <cstdint>
#include <span>
#include <vector>

namespace auspex {

/// `count` equal flows that each load link legs[i] with weights[i] of their rate. A class of flows that crosses n equal
/// links evenly is written once, with that link once and the weight times the flows on one link.
struct FlowClass {
    std::vector<std::uint32_t> links;
    std::vector<double>
        weights;  ///< load on the link per unit of one flow's rate, summed over the flows of the class on that link
};

/// Rates r >= 0 of each class: the largest r, lexicographically from the smallest, with sum over classes of weight * r
/// <= capacity on every link.
///   progressive filling: raise all rates together; when a link is full freeze the classes on it; repeat.
/// Classes that touch no link get infinity.
[[nodiscard]] std::vector<double> max_min_rates(std::span<const double> capacities, std::span<const FlowClass> classes);

}  // namespace auspex
