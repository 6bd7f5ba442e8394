/// @file Layers of virtual stages, and what crosses the boundary between two.
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

bool scatters_messages(const models::Plan& plan, const models::Stack& stack) {
    return stack.scatters_messages && plan.tp > 1 && !plan.sequence_parallel;
}

StageMessage stage_message(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                           int boundary) {
    const double tokens = static_cast<double>(plan.micro_batch_size) * workload.sequence_length / plan.cp;
    const double slice = plan.sequence_parallel || scatters_messages(plan, stack) ? tokens / plan.tp : tokens;
    StageMessage message;
    message.activations.elements = slice * workload.hidden_size;
    if (stack.router_logits_travel && workload.global_aux_loss) {
        const int layers = layers_of(workload, plan, boundary).last - workload.first_dense_layers;
        message.router_logits.elements = std::max(0, layers) * tokens * workload.num_experts;
    }
    return message;
}

double message_bytes(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                     int boundary) {
    const StageMessage message = stage_message(workload, plan, stack, boundary);
    return (message.activations.elements + message.router_logits.elements) * element_bytes(plan, ElementType::kValue);
}

}  // namespace auspex::schedule
