/// @file What layers save, and its copies to the host and back.
#include <algorithm>

#include "schedule/program/block_builder.hpp"
#include "schedule/program/split_sequences.hpp"

namespace auspex::schedule {
namespace {

using models::Recompute;

/// Queries, keys and values as attention reads them, its output, and what the norms and the softmax were divided by.
void save_attention(const Shapes& s, const Recompute& redone, SavedActivations& saved) {
    const models::Workload& w = s.workload;
    const AttentionWidths width = attention_widths(s);
    const double heads = w.heads / s.tp;
    const bool latent = w.attention == models::AttentionKind::kLatent, core = !redone.core_attention;
    const double projected = latent && redone.latent_up ? 0 : width.query + width.key_value;
    const double latents = latent ? w.q_rank + w.kv_rank + w.rope_head_size : 0;
    const bool keeps_rotated = s.stack.keeps_rotated && !redone.latent_up;
    saved.values += s.t * (projected + latents + width.normed + (keeps_rotated ? width.rotated : 0));
    saved.words += width.normed > 0 ? 2 * s.t : 0;
    const double shared = width.gathered - width.key_value, exchange = s.context.all_to_all;
    const bool gathers = s.plan.context == models::ContextParallel::kAllGather;
    const double attended = gathers ? s.plan.cp * width.gathered : width.key_value * s.kv_copies + shared * exchange;
    if (gathers && s.plan.cp > 1 && core) {
        saved.values += s.t * attended;
    }
    if (exchange > 1) {
        const double replaced = width.query + (w.qk_norm && !latent ? width.key_value / 2 : width.key_value);
        saved.values += s.t * (width.query + attended - replaced + width.value);
    }
    saved.values += exchange > 1 && !core ? 0 : s.t * width.value;
    if (core) {
        saved.words += s.t * heads;
        saved.values += s.stack.kernels.attention > 1 ? s.t * heads * w.sequence_length : 0;
    }
}

void save_dense(const Shapes& s, const Recompute& redone, SavedActivations& saved) {
    const double inner = s.workload.intermediate_size / s.tp, gates = s.workload.gates();
    saved.values += s.t * gates * inner;
    if (!redone.activation) {
        saved.values += s.t * inner * (s.stack.keeps_activation && gates == 2 ? 2 : 1);
    }
}

/// Logits and choices of the router, tokens gathered for the experts, indices and sums of counts.
void save_routing(const Shapes& s, SavedActivations& saved) {
    const models::Workload& w = s.workload;
    const double top_k = w.top_k, experts = w.num_experts;
    saved.words += s.t_routed * (2 * experts + top_k);
    saved.numbers += s.t_routed * top_k;
    if (s.plan.ep > 1 && !s.all_to_all) {
        saved.values += s.by_node ? 0 : s.gathered * s.h;
        saved.words += s.gathered * top_k;
        saved.numbers += s.gathered * top_k;
    }
    const bool over_tp = s.plan.sequence_parallel && s.plan.tp > 1 && s.plan.etp == s.plan.tp;
    const bool over_etp =
        s.plan.etp != s.plan.tp && s.plan.etp > 1 && (s.plan.sequence_parallel || s.plan.etp > s.plan.tp);
    if (s.plan.ep == 1 && (over_tp || over_etp)) {
        saved.values += s.t_routed * s.h;
    }
    saved.numbers += (s.all_to_all ? experts : s.experts_on_rank) + 1;
    saved.words += s.all_to_all ? s.routed_rows : 0;
    const double masks = s.masks ? (s.all_to_all ? s.t_routed : s.gathered) * s.routed_rows : 0;
    saved.words += masks;
    saved.values += 2 * masks;
    saved.words += splits_routed_sequences(w, s.plan) ? s.plan.micro_batch_size * experts : 0;
}

/// What the products read and make.
void save_experts(const Shapes& s, const Recompute& redone, SavedActivations& saved) {
    const double rows = s.routed_rows, inner = rows * s.expert_size;
    const double outputs = s.stack.weights_in_activation ? 0 : rows * s.h;
    saved.routed_values += s.workload.gates() * inner + (redone.activation ? 0 : inner);
    if (!s.all_to_all) {
        saved.routed_values += rows * s.h + outputs;
        saved.routed_words += rows;
        return;
    }
    saved.routed_values += rows * s.h;
    saved.routed_numbers += rows;
    saved.routed_words += s.experts_on_rank > 1 ? rows : 0;
    saved.numbers += s.experts_on_rank + 1;
    saved.values += outputs;  // as they come back
}

/// Of HostCopies: the layer, from the first of its virtual stage, in front of which a copy has to have ended.
int waited_for_in_front_of(int layer, int offloaded, int layers) {
    return std::min(layers, std::max(layer + 2, 1 + (layer + 1) * (layers - 1) / offloaded));
}

}  // namespace

SavedActivations saved_activations(const Shapes& s, const Recompute& redone, bool mixture) {
    SavedActivations saved;
    const double sublayer = s.t_norm * s.h;
    saved.values += redone.layer ? sublayer : 2 * sublayer;
    saved.values += redone.norm ? 0 : 2 * sublayer;
    if (!redone.attention) {
        save_attention(s, redone, saved);
    }
    if (redone.expert) {
        return saved;
    }
    if (!mixture) {
        save_dense(s, redone, saved);
        return saved;
    }
    save_routing(s, saved);
    save_experts(s, redone, saved);
    const double shared = s.workload.shared_experts * static_cast<double>(s.workload.expert_size) / s.tp;
    saved.values += redone.shared_experts ? 0 : s.t * (s.workload.gates() + 1) * shared;
    return saved;
}

Value HostCopies::copy(CommKind direction, int layer) {
    const Shapes& s = b_.shapes();
    const SavedActivations saved =
        saved_activations(s, recompute_of(s.plan, layer - range_.first), s.workload.is_moe_layer(layer));
    b_.set(b_.block() == BlockKind::kForward ? Phase::kForward : Phase::kBackwardInput, layer);
    const Value plain = b_.host_copy(
        direction,
        {{saved.values, ElementType::kValue}, {saved.words, ElementType::kFp32}, {saved.numbers, ElementType::kInt64}},
        false);
    if (saved.routed_values == 0) {
        return plain;
    }
    return b_.host_copy(direction,
                        {{saved.routed_values, ElementType::kValue},
                         {saved.routed_words, ElementType::kFp32},
                         {saved.routed_numbers, ElementType::kInt64}},
                        true);
}

/// Copies of one direction follow one another: behind the last all of the layer have ended.
void HostCopies::wait_for(Phase phase, int layer) {
    const auto found = on_their_way_.find(layer);
    if (found != on_their_way_.end()) {
        b_.set(phase, layer);
        b_.wait_for_host_copy(found->second);
        on_their_way_.erase(found);
    }
}

int HostCopies::waited_for_at(int layer) const {
    const int layers = range_.last - range_.first, offloaded = std::min(b_.shapes().plan.offload_layers, layers);
    return range_.first + waited_for_in_front_of(layer - range_.first, offloaded, layers);
}

void HostCopies::before_forward(int layer) {
    for (int other = range_.first; other < layer; ++other) {
        if (is_offloaded(other) && waited_for_at(other) <= layer) {
            wait_for(Phase::kForward, other);
        }
    }
}

void HostCopies::behind_forward(int layer) {
    if (is_offloaded(layer)) {
        on_their_way_[layer] = copy(CommKind::kToHost, layer);
    }
}

void HostCopies::end_forward() {
    for (int layer = range_.first; layer < range_.last; ++layer) {
        wait_for(Phase::kForward, layer);
    }
    b_.set(Phase::kForward, -1);
}

void HostCopies::begin_backward() {
    if (is_offloaded(range_.last - 1)) {
        on_their_way_[range_.last - 1] = copy(CommKind::kFromHost, range_.last - 1);
        b_.set(Phase::kBackwardInput, -1);
    }
}

void HostCopies::before_backward(int layer) {
    for (int other = layer - 1; other >= range_.first; --other) {
        if (is_offloaded(other) && waited_for_at(other) == layer + 1) {
            on_their_way_[other] = copy(CommKind::kFromHost, other);
        }
    }
    wait_for(Phase::kBackwardInput, layer);
}

}  // namespace auspex::schedule
