/// @file Layers of virtual stages.
#include <algorithm>
#include <numeric>

#include "schedule/program/program.hpp"

namespace auspex::schedule {

namespace {

/// The model's own.
LayerRange layers_dealt_to(const models::Workload& workload, const models::Plan& plan, int virtual_stage) {
    if (!plan.stage_layers.empty()) {
        const auto begin = plan.stage_layers.begin();
        const int before = std::accumulate(begin, begin + virtual_stage, 0);
        return {before, before + begin[virtual_stage]};
    }
    const int stages = plan.pp * plan.virtual_stages;
    const int each = workload.layers / stages, extra = workload.layers % stages;
    const int first = virtual_stage * each + std::min(virtual_stage, extra);
    return {first, first + each + (virtual_stage < extra ? 1 : 0)};
}

}  // namespace

LayerRange layers_of(const models::Workload& workload, const models::Plan& plan, int virtual_stage) {
    LayerRange range = layers_dealt_to(workload, plan, virtual_stage);
    if (virtual_stage == last_virtual_stage_of(plan)) {
        range.predictions = workload.mtp_layers;
        range.last += range.predictions;
    }
    return range;
}

}  // namespace auspex::schedule
