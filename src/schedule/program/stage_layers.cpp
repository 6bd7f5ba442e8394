/// @file Layers of virtual stages.
#include <algorithm>
#include <numeric>

#include "schedule/program/program.hpp"

namespace auspex::schedule {

namespace {

/// The model's own.
LayerRange layers_dealt_to(const models::Workload& workload, const models::Plan& plan, int part) {
    if (!plan.stage_layers.empty()) {
        const auto begin = plan.stage_layers.begin();
        const int before = std::accumulate(begin, begin + part, 0);
        return {before, before + begin[part]};
    }
    const int stages = stages_of_model(plan);
    const int each = workload.layers / stages, extra = workload.layers % stages;
    const int first = part * each + std::min(part, extra);
    return {first, first + each + (part < extra ? 1 : 0)};
}

}  // namespace

LayerRange layers_of(const models::Workload& workload, const models::Plan& plan, int virtual_stage) {
    LayerRange range = layers_dealt_to(workload, plan, part_of_model(plan, virtual_stage));
    if (is_last_part(plan, virtual_stage)) {
        range.predictions = workload.mtp_layers;
        range.last += range.predictions;
    }
    return range;
}

}  // namespace auspex::schedule
