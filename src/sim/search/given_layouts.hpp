#pragma once
/// @file Steps and memory of plans that are given, each with a model of its own.
#include <string>
#include <vector>

#include "models/inputs.hpp"

namespace auspex::search {

struct GivenLayout {
    models::Workload workload;
    models::Plan plan;  ///< with its dp
    int tiles = 0;
};

/// What predict() says of a layout, in its folded lens.
struct LayoutEstimate {
    std::string refused;  ///< not empty: why it is no plan
    double step_time_s = 0;
    double memory_peak_bytes = 0;  ///< of the fullest stage
    int fullest_stage = 0;
};

/// Of each layout, on all cores; machine and stack are those of `inputs`.
[[nodiscard]] std::vector<LayoutEstimate> estimate_layouts(const models::Inputs& inputs,
                                                           const std::vector<GivenLayout>& layouts);

}  // namespace auspex::search
