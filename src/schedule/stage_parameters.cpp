/// @file Parameters that a rank of a pipeline stage holds.
#include "schedule/program.hpp"

namespace auspex {
namespace {

double final_norm_parameters(const Workload& w) {
    return w.norm == NormKind::kNonParametric ? 0 : w.norm == NormKind::kLayer ? 2.0 * w.hidden_size : w.hidden_size;
}

/// Latent attention's projections down to the latents, which every rank of a tp group holds whole.
double latent_down_parameters(const Workload& w) {
    if (w.attention != AttentionKind::kLatent) {
        return 0;
    }
    const double latents = static_cast<double>(w.q_rank) + w.kv_rank + w.rope_head_size;
    return latents * (w.hidden_size + (w.biases ? 1.0 : 0.0));
}

}  // namespace

StageParameters layer_parameters(const Workload& workload, const Plan& plan, int layer) {
    const ParameterCount count = count_layer_parameters(workload, layer);
    StageParameters p;
    const double whole = count.norm + count.router + latent_down_parameters(workload);
    p.dense = (count.total() - count.experts - whole) / plan.tp + whole;
    p.experts = count.experts / (static_cast<double>(plan.ep) * plan.etp);
    p.replicated_tensors = replicated_tensors_per_layer(workload, layer);
    return p;
}

StageParameters embedding_parameters(const Workload& workload, const Plan& plan, int virtual_stage) {
    const ParameterCount all = count_parameters(workload);
    return virtual_stage != 0
               ? StageParameters{}
               : StageParameters{all.embedding / plan.tp + all.positions, 0, 1 + (all.positions > 0 ? 1 : 0)};
}

StageParameters head_parameters(const Workload& workload, const Plan& plan, int virtual_stage) {
    const int last = plan.pp * plan.virtual_stages - 1;
    if (virtual_stage != last) {
        return {};
    }
    const ParameterCount all = count_parameters(workload);
    const bool copy = workload.tied_embeddings && last > 0;  // the first stage's table, kept a second time
    return {(copy ? all.embedding : all.lm_head) / plan.tp + final_norm_parameters(workload), 0, 2};
}

std::vector<StageParameters> stage_units(const Workload& workload, const Plan& plan, int stage) {
    std::vector<StageParameters> units;
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        const int v = chunk * plan.pp + stage;
        const LayerRange range = layers_of(workload, plan, v);
        for (int layer = range.first; layer < range.last; ++layer) {
            units.push_back(layer_parameters(workload, plan, layer));
        }
        units.push_back(embedding_parameters(workload, plan, v));
        units.push_back(head_parameters(workload, plan, v));
    }
    return units;
}

StageParameters stage_parameters(const Workload& workload, const Plan& plan, int stage) {
    StageParameters sum;
    for (const StageParameters& unit : stage_units(workload, plan, stage)) {
        sum.dense += unit.dense;
        sum.experts += unit.experts;
        sum.replicated_tensors += unit.replicated_tensors;
    }
    return sum;
}

}  // namespace auspex
