#pragma once
/// @file Exact memory of the many plans of a grid: what their passes do is found once for those that share it.
#include <limits>
#include <map>
#include <tuple>

#include "models/inputs.hpp"
#include "schedule/memory/plan_memory.hpp"
#include "sim/search/bounds/layer_costs.hpp"
#include "sim/search/bounds/pass_traits.hpp"
#include "sim/search/space/plan_space.hpp"

namespace auspex::search {

/// For plans of one grid; remembers.
class GridMemory {
 public:
    /// Of the grid of which `like` is a plan. Inputs and table must outlive it.
    GridMemory(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like);
    /// Never above the peak: what the first stage has all the time, and what its layers keep of the micro-batches that
    /// it runs forward before the first one backward.
    [[nodiscard]] double floor_bytes(const Candidate& plan);
    /// Peak of the fullest stage, as memory_report has it. Where it is more than `enough`, a number between the two.
    [[nodiscard]] double peak_bytes(const Candidate& plan, double enough = std::numeric_limits<double>::infinity());

 private:
    using EffectsKey = std::tuple<int, StageShape, bool, models::StageDeal, int, models::Dispatch,
                                  models::ExpertKernels, int, bool, models::OptimizerSharding, bool, bool, int>;
    [[nodiscard]] bool gradients_come_and_go(const Candidate& candidate) const;
    [[nodiscard]] double stage_bytes(const Candidate& candidate, const models::Plan& plan, int stage, double enough);
    [[nodiscard]] double reserved_bytes(const models::Plan& plan, int stage) const;

    [[nodiscard]] const schedule::FixedBytes& fixed_of(const Candidate& candidate, int stage);

    const models::Inputs& inputs_;
    LayerCostTable& table_;
    models::Layout layout_;
    std::map<EffectsKey, schedule::PassEffects> effects_;
    std::map<std::tuple<int, StageShape, bool, bool, models::StageDeal, models::OptimizerSharding, bool, int>,
             schedule::FixedBytes>
        fixed_;
};

}  // namespace auspex::search
