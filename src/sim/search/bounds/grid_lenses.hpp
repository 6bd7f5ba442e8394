#pragma once
/// @file What is asked of the plans of a grid, what takes least first.
#include <algorithm>
#include <optional>

#include "sim/predict/simulate.hpp"
#include "sim/search/bounds/grid_memory.hpp"
#include "sim/search/bounds/step_bound.hpp"

namespace auspex::search {

struct GridLenses {
    /// Of the grid of which `like` is a plan. Inputs and table must outlive it.
    GridLenses(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like)
        : floor(inputs, table, like), memory(inputs, table, like), inputs_(inputs), table_(table), like_(like) {}

    GridFloor floor;
    GridMemory memory;
    /// With the network of the grid, which is made when it is asked for; none on CPU cores.
    [[nodiscard]] GridBound& bound() { return bound_ ? *bound_ : bound_.emplace(inputs_, table_, like_); }

    /// The largest of `known_s` and of bounds that take longer and longer, as far as none is above `most_s`.
    [[nodiscard]] double raised(double known_s, const Candidate& plan, double most_s) {
        if (is_of_cpus()) {
            return known_s <= most_s ? std::max(known_s, CpuFloor(inputs_).actions_s(plan)) : known_s;
        }
        const double quick_s = std::max(known_s, bound().of(plan, floor.optimizer_s(plan)));
        return quick_s <= most_s ? std::max(quick_s, bound().of(plan)) : quick_s;
    }

    /// The largest of `known_s` and the nearest bound there is.
    [[nodiscard]] double nearest(double known_s, const Candidate& plan) {
        return is_of_cpus() ? known_s : std::max(known_s, bound().of_passes(plan));
    }
    /// simulate_within for a step of the grid; on CPU cores every step is played to its end.
    [[nodiscard]] bool simulate(predict::SimulatedStep& step, const models::Inputs& inputs, Picoseconds most) {
        if (is_of_cpus()) {
            simulate_prepared(step, inputs, {}, false);
            return step.step <= most;
        }
        return simulate_within(step, inputs, bound().network(), most);
    }

 private:
    [[nodiscard]] bool is_of_cpus() const { return inputs_.machine.cpu.cores > 0; }

    const models::Inputs& inputs_;
    LayerCostTable& table_;
    Candidate like_;
    std::optional<GridBound> bound_;
};

}  // namespace auspex::search
