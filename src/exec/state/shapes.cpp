/// @file Sizes on a rank, and its grid coordinates.
#include "exec/state/shapes.hpp"

#include "models/context/dealt_tokens.hpp"
#include "models/routing.hpp"
#include "schedule/program/split_sequences.hpp"

namespace auspex::exec {

RankShapes rank_shapes(const models::Workload& workload, const models::Plan& plan) {
    const auto size = [](int value) { return static_cast<std::size_t>(value); };
    RankShapes s;
    s.tp = size(plan.tp), s.ep = size(plan.ep), s.etp = size(plan.etp);
    s.sequences = size(plan.micro_batch_size), s.sequence = size(workload.sequence_length);
    s.local_sequence = s.sequence / size(plan.cp);
    s.t = s.sequences * s.local_sequence;
    s.t_routed = s.t * s.etp / s.tp;
    s.sequence_parallel = plan.sequence_parallel && plan.tp > 1;
    s.t_slice = s.sequence_parallel ? s.t / s.tp : s.t;
    s.h = size(workload.hidden_size);
    s.heads = size(workload.heads) / s.tp, s.kv_heads = size(workload.kv_heads) / s.tp;
    s.head = size(workload.head_size);
    s.q = s.heads * s.head, s.kv = s.kv_heads * s.head, s.qkv = s.q + 2 * s.kv;
    const bool latent = workload.attention == models::AttentionKind::kLatent;
    s.q_rank = size(workload.q_rank), s.kv_rank = size(workload.kv_rank), s.rope = size(workload.rope_head_size);
    s.value_head = latent ? size(workload.value_head_size) : s.head;
    s.gates = static_cast<std::size_t>(workload.gates());
    s.inner = size(workload.intermediate_size) / s.tp;
    s.vocabulary = size(workload.vocab_size) / s.tp;
    s.experts = size(workload.num_experts), s.local_experts = s.experts / s.ep;
    s.top_k = size(workload.top_k);
    if (workload.capacity_factor > 0) {
        s.capacity = static_cast<std::size_t>(models::expert_capacity(workload, static_cast<double>(s.t_routed)));
    }
    s.expert_inner = size(workload.expert_size) / size(plan.etp);
    s.shared_inner = size(workload.shared_experts) * size(workload.expert_size) / s.tp;
    s.gathered = s.ep * s.t_routed;
    s.splits_sequences = schedule::splits_routed_sequences(workload, plan);
    s.all_to_all = plan.dispatch == models::Dispatch::kAllToAll && plan.ep > 1;
    return s;
}

RankCoordinates rank_coordinates(const models::Layout& layout, int rank) {
    const models::GridCoordinates coordinates = grid_coordinates(layout, rank);
    const int number = number_in_stage(layout, coordinates);
    const models::DensePlace place = dense_place(layout, number);
    return {rank, coordinates.stage, place.data, coordinates.ep, place.tp, place.cp, coordinates.etp, number};
}

}  // namespace auspex::exec
