#pragma once
/// @file What is asked of the plans of a grid, what takes least first.
#include <algorithm>
#include <optional>

#include "sim/search/bounds/grid_memory.hpp"
#include "sim/search/bounds/step_bound.hpp"

namespace auspex::search {

struct GridLenses {
    /// Of the grid of which `like` is a plan. Inputs and table must outlive it.
    GridLenses(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like)
        : floor(inputs, table, like), memory(inputs, table, like), inputs_(inputs), table_(table), like_(like) {}

    GridFloor floor;
    GridMemory memory;
    /// With the network of the grid, which is made when it is asked for.
    [[nodiscard]] GridBound& bound() { return bound_ ? *bound_ : bound_.emplace(inputs_, table_, like_); }

    /// The largest of `known_s` and of bounds that take longer and longer, as far as none is above `most_s`.
    [[nodiscard]] double raised(double known_s, const Candidate& plan, double most_s) {
        const double quick_s = std::max(known_s, bound().of(plan, floor.optimizer_s(plan)));
        return quick_s <= most_s ? std::max(quick_s, bound().of(plan)) : quick_s;
    }

 private:
    const models::Inputs& inputs_;
    LayerCostTable& table_;
    Candidate like_;
    std::optional<GridBound> bound_;
};

}  // namespace auspex::search
