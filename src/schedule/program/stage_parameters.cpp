/// @file Parameters that a rank of a pipeline stage holds.
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

/// Of a norm over `width` elements.
double norm_parameters(const models::Workload& w, double width) {
    return w.norm == models::NormKind::kNonParametric ? 0 : w.norm == models::NormKind::kLayer ? 2 * width : width;
}

/// Latent attention's projections down to the latents, and their norms: every rank of a tp group holds them whole, and
/// gets a gradient through its own heads only.
double latent_parameters(const models::Workload& w) {
    if (w.attention != models::AttentionKind::kLatent) {
        return 0;
    }
    const double normed = static_cast<double>(w.q_rank) + w.kv_rank;
    return (normed + w.rope_head_size) * (w.hidden_size + (w.biases ? 1.0 : 0.0)) + norm_parameters(w, normed);
}

/// Biases of the layers whose input tp splits, the last of each sublayer: the sum over tp gets them once, and every
/// rank holds them whole. Of routed experts they are counted with these.
double row_biases(const models::Workload& w, int layer) {
    const int layers = 1 + (w.is_moe_layer(layer) && w.shared_experts == 0 ? 0 : 1);
    return w.biases ? 1.0 * layers * w.hidden_size : 0;
}

/// Norms of the residual stream: their gradients are parts where each tp rank has a slice of the sequence.
double part_of_slices(const models::Plan& plan, double norms) {
    return plan.tp > 1 && plan.sequence_parallel ? norms : 0;
}

}  // namespace

StageParameters& StageParameters::operator+=(const StageParameters& more) {
    dense += more.dense;
    experts += more.experts;
    replicated_tensors += more.replicated_tensors;
    summed_over_tp += more.summed_over_tp;
    return *this;
}

StageParameters layer_parameters(const models::Workload& workload, const models::Plan& plan, int layer) {
    const models::ParameterCount count = count_layer_parameters(workload, layer);
    StageParameters p;
    // Prediction modules have their own norms of state, embedding and result.
    const double norms = norm_parameters(workload, (layer >= workload.layers ? 5.0 : 2.0) * workload.hidden_size);
    const double made_in_parts = count.router + latent_parameters(workload);
    const double whole = norms + made_in_parts + row_biases(workload, layer) + count.prediction;
    p.dense = (count.total() - count.experts - whole) / plan.tp + whole;
    p.experts = count.experts / (static_cast<double>(plan.ep) * plan.etp);
    p.replicated_tensors = replicated_tensors_per_layer(workload, layer);
    p.summed_over_tp = (plan.tp > 1 ? made_in_parts : 0) + part_of_slices(plan, norms + count.prediction);
    return p;
}

StageParameters embedding_parameters(const models::Workload& workload, const models::Plan& plan, int virtual_stage) {
    if (!is_first_part(plan, virtual_stage)) {
        return {};
    }
    const models::ParameterCount all = count_parameters(workload);
    return {all.embedding / plan.tp + all.positions, 0, 1 + (all.positions > 0 ? 1 : 0), 0};
}

double tied_copy_parameters(const models::Workload& workload, const models::Plan& plan) {
    const bool needs_it = workload.tied_embeddings || workload.mtp_layers > 0;
    return needs_it && !has_both_ends_on_one(plan) ? count_parameters(workload).embedding / plan.tp : 0;
}

StageParameters head_parameters(const models::Workload& workload, const models::Plan& plan, int virtual_stage) {
    if (!is_last_part(plan, virtual_stage)) {
        return {};
    }
    const double norm = norm_parameters(workload, workload.hidden_size);
    const double table = count_parameters(workload).lm_head / plan.tp + tied_copy_parameters(workload, plan);
    const bool two_tables = !workload.tied_embeddings && tied_copy_parameters(workload, plan) > 0;
    return {table + norm, 0, two_tables ? 3 : 2, part_of_slices(plan, norm)};
}

namespace {

void add_units(const models::Workload& workload, const models::Plan& plan, int v, std::vector<StageParameters>& units) {
    const LayerRange range = layers_of(workload, plan, v);
    for (int layer = range.first; layer < range.last; ++layer) {
        units.push_back(layer_parameters(workload, plan, layer));
    }
    units.push_back(embedding_parameters(workload, plan, v));
    units.push_back(head_parameters(workload, plan, v));
}

StageParameters sum_of(const std::vector<StageParameters>& units) {
    StageParameters sum;
    for (const StageParameters& unit : units) {
        sum += unit;
    }
    return sum;
}

}  // namespace

std::vector<StageParameters> stage_units(const models::Workload& workload, const models::Plan& plan, int stage) {
    std::vector<StageParameters> units;
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        add_units(workload, plan, virtual_stage_of(plan, chunk, stage), units);
    }
    return units;
}

StageParameters chunk_parameters(const models::Workload& workload, const models::Plan& plan, int stage, int chunk) {
    std::vector<StageParameters> units;
    add_units(workload, plan, virtual_stage_of(plan, chunk, stage), units);
    return sum_of(units);
}

StageParameters stage_parameters(const models::Workload& workload, const models::Plan& plan, int stage) {
    return sum_of(stage_units(workload, plan, stage));
}

StageParameters updated_parameters(const models::Workload& workload, const models::Plan& plan, int stage) {
    return has_stages_twice(plan.schedule) ? chunk_parameters(workload, plan, stage, 0)
                                           : stage_parameters(workload, plan, stage);
}

}  // namespace auspex::schedule
