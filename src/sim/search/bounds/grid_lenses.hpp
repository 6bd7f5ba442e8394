#pragma once
/// @file What is asked of the plans of a grid one by one.
#include "sim/search/bounds/grid_memory.hpp"
#include "sim/search/bounds/step_bound.hpp"

namespace auspex::search {

/// For plans of the grid of which `like` is one. Inputs and table must outlive it.
struct GridLenses {
    GridBound bound;
    GridMemory memory;
    GridLenses(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like)
        : bound(inputs, table, like), memory(inputs, like) {}
};

}  // namespace auspex::search
