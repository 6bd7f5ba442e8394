/// @file (workload, plan, stack) -> the sizes of one rank's tensors.
#include "schedule/memory/memory_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "models/routing.hpp"
#include "schedule/memory/router_logits.hpp"
#include "schedule/program/block_builder.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {
namespace {

std::uint64_t whole(int number) { return static_cast<std::uint64_t>(number); }
std::uint64_t whole(double number) { return static_cast<std::uint64_t>(std::llround(number)); }

std::uint64_t divided(std::uint64_t number, int by) { return (number + whole(by) - 1) / whole(by); }

void set_attended(MemorySizes& s, const models::Plan& plan, std::uint64_t kv_heads) {
    if (plan.context == models::ContextParallel::kAllGather) {
        s.attended = whole(plan.cp) * (s.key_value + s.shared_key);
        return;
    }
    const int ranks = context_split(plan).all_to_all;
    const double copies = models::key_value_copies(static_cast<int>(kv_heads), ranks);
    s.attended = whole(static_cast<double>(s.key_value) * copies) + s.shared_key * whole(ranks);
}

/// Projected keys, values and latents stay for the gradients of norms.
void set_context(MemorySizes& s, const models::Workload& w, const models::Plan& plan) {
    const models::ContextSplit split = context_split(plan);
    s.split_heads = split.all_to_all > 1;
    s.ring = whole(split.ring);
    s.gathers_keys = plan.cp > 1 && plan.context == models::ContextParallel::kAllGather;
    s.exchanged = s.query + (w.qk_norm && !s.latent ? s.key_value / 2 : s.key_value);
}

void set_attention(MemorySizes& s, const models::Workload& w, const models::Plan& plan) {
    const std::uint64_t kv_heads = divided(whole(w.kv_heads), plan.tp), head = whole(w.head_size);
    s.heads = divided(whole(w.heads), plan.tp);
    s.normed = w.qk_norm ? (s.heads + kv_heads) * head : 0;
    s.latent = w.attention == models::AttentionKind::kLatent;
    if (!s.latent) {
        s.query = s.value = s.heads * head;
        s.key_value = 2 * kv_heads * head;
        s.rotated = (s.heads + kv_heads) * head;
        return set_attended(s, plan, kv_heads);
    }
    s.query = s.heads * whole(w.head_size + w.rope_head_size);
    s.key_value = s.heads * whole(w.head_size + w.value_head_size);
    s.value = s.heads * whole(w.value_head_size);
    s.shared_key = whole(w.rope_head_size);
    s.rotated = (s.heads + 1) * whole(w.rope_head_size);
    s.q_rank = whole(w.q_rank);
    s.kv_latent = whole(w.kv_rank + w.rope_head_size);
    s.normed += whole(w.q_rank + w.kv_rank);
    set_attended(s, plan, s.heads);
}

void set_experts(MemorySizes& s, const models::Workload& w, const models::Plan& plan) {
    s.ep = whole(plan.ep);
    s.t_routed = divided(s.t * whole(plan.etp), plan.tp);
    s.gathered = whole(std::ceil(gathered_tokens(w, plan, static_cast<double>(s.t_routed)) - kRounding));
    s.experts = whole(w.num_experts);
    s.local_experts = s.experts / s.ep;
    s.top_k = whole(w.top_k);
    s.expert_inner = divided(whole(w.expert_size), plan.etp);
    s.shared_inner = divided(whole(w.shared_experts) * whole(w.expert_size), plan.tp);
    s.rows = s.sent_rows =
        w.capacity_factor == 0
            ? s.t_routed * s.top_k
            : whole(std::ceil(even_rows(w, static_cast<double>(s.t_routed)) * w.num_experts - kRounding));
    s.all_to_all = plan.dispatch == models::Dispatch::kAllToAll && plan.ep > 1;
    s.by_node = plan.dispatch == models::Dispatch::kHierarchical && plan.ep > 1;
    s.loop = plan.expert_kernels == models::ExpertKernels::kLoop && !s.masks;
    s.etp_differs = plan.etp != plan.tp;
    s.routes_slices = plan.etp < plan.tp;
}

/// Bytes of the rank's shard of a chunk's gradients.
std::uint64_t gradient_shard(const models::Workload& workload, const models::Plan& plan, int stage, int chunk) {
    const OptimizerShards shards = optimizer_shards(plan, rank_grid(plan, tiles_of(plan)));
    const StageParameters p = chunk_parameters(workload, plan, stage, chunk);
    return whole((p.dense / shards.dense + p.experts / shards.experts) * stored_gradient_bytes(plan));
}

}  // namespace

MemorySizes memory_sizes(const models::Workload& w, const models::Plan& plan, const models::Stack& stack) {
    MemorySizes s;
    s.sequence = whole(w.sequence_length);
    s.sequences = whole(plan.micro_batch_size);
    s.t = divided(whole(plan.micro_batch_size) * s.sequence, plan.cp);
    s.slice = divided(s.t, plan.tp);
    s.ts = plan.sequence_parallel ? s.slice : s.t;
    s.cp = whole(plan.cp);
    s.a = whole(plan.weight_bytes);
    const bool is_narrow = plan.fp8 != models::Fp8::kNone && plan.offload_layers == 0;
    s.operand_16ths = whole(16 * (is_narrow ? narrow_bytes(plan.fp8) : plan.weight_bytes));
    s.h = whole(w.hidden_size);
    s.gates = whole(w.gates());
    s.inner = divided(whole(w.intermediate_size), plan.tp);
    s.vocabulary = divided(whole(w.vocab_size), plan.tp);
    s.split_tp = plan.tp > 1;
    s.sequence_parallel = plan.sequence_parallel && plan.tp > 1;
    s.keeps_scores = stack.kernels.attention > 1;
    s.logit_copies = whole(stack.cross_entropy_copies);
    s.loss_of_pytorch = stack.allocator != models::Allocator::kNone && gathers_in_passes(plan);
    if (s.loss_of_pytorch && s.logit_copies > 0 && plan.tp > 1) {
        s.logit_copies += 1;  // torch/distributed/tensor/parallel/loss.py: (gradient + exp(x)) * scale
    }
    s.keeps_rotated = stack.keeps_rotated;
    s.keeps_activation = stack.keeps_activation && s.gates == 2;
    s.keeps_unread = stack.keeps_unread_products;
    s.keeps_returned = !stack.weights_in_activation;
    s.keeps_bf16_logits = stack.kernels.cross_entropy > 1;
    for (int layer = 0; layer <= plan.recompute_layers; ++layer) {
        s.recompute.push_back(recompute_of(plan, layer));
    }
    set_attention(s, w, plan);
    set_context(s, w, plan);
    s.masks = stack.dispatches_by_masks && plan.dispatch == models::Dispatch::kAllToAll;
    set_experts(s, w, plan);
    s.biases_by_expert = stack.biases_by_expert && w.biases && !s.loop;
    return s;
}

ChunkSizes chunk_sizes(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                       int stage, int chunk) {
    const int v = virtual_stage_of(plan, chunk, stage);
    const bool is_first = is_first_part(plan, v);
    ChunkSizes c;
    c.layers = layers_of(workload, plan, v);
    c.last = is_last_part(plan, v);
    const int all = c.layers.last - c.layers.first;
    c.dense_layers = workload.num_experts > 0 ? std::clamp(workload.first_dense_layers - c.layers.first, 0, all) : all;
    c.from_own_rank = !is_first && is_local_boundary(plan, v - 1);
    c.to_own_rank = !c.last && is_local_boundary(plan, v);
    c.received = !is_first ? whole(message_bytes(workload, plan, stack, v - 1)) : 0;
    c.received_back = !c.last ? whole(message_bytes(workload, plan, stack, v)) : 0;
    if (workload.global_aux_loss && (stack.router_logits_travel || stages_of_model(plan) == 1)) {
        const double tokens = static_cast<double>(plan.micro_batch_size) * workload.sequence_length / plan.cp;
        const int mixture_layers = std::max(0, router_logits_end(workload, plan, v) - workload.first_dense_layers);
        c.router_logits = whole(mixture_layers * tokens * workload.num_experts * plan.weight_bytes);
    }
    c.shards_weights = shards_weights(plan);
    c.keeps_last_unit = c.last && keeps_last_unit(workload, plan, stack);
    c.is_tied = has_one_table(workload, plan);
    if (gradients_come_and_go(plan, stack)) {
        c.gradients = gradient_shard(workload, plan, stage, chunk);
        for (int other = 0; chunk == 0 && other < plan.virtual_stages; ++other) {
            c.gradients_of_stage += gradient_shard(workload, plan, stage, other);
        }
    }
    if (has_stages_twice(plan.schedule)) {
        const models::Layout grid = rank_grid(plan, tiles_of(plan));
        const auto elements = [&](int of) { return mirrored_elements(workload, plan, stack, grid, stage, of); };
        c.gradients_from_mirror = whole(elements(0) * plan.gradient_bytes);
        c.parameters_from_mirror = whole(elements(1) * plan.weight_bytes);
    }
    if (shards_gradients(plan.optimizer) && !splits_backward(plan.schedule)) {
        const models::Layout grid = rank_grid(plan, tiles_of(plan));
        const OptimizerShards shards = optimizer_shards(plan, grid);
        const double stored = stored_gradient_bytes(plan);
        // PyTorch's copies what the pass has made, in the weights' type, into what is summed.
        const bool is_copied = stack.casts_shards && gathers_in_passes(plan) && plan.gradient_bytes > plan.weight_bytes;
        const double made = plan.gradient_bytes + (is_copied ? plan.weight_bytes : 0);
        const double padding = expert_padding(workload, plan, stack, shards.experts);
        for (const GradientBucket& bucket : gradient_buckets(workload, plan, stack, v)) {
            const SummedParts parts = summed_parts(plan, grid, bucket.parameters);
            const double dense = parts.dense ? bucket.parameters.dense : 0;
            const double experts = parts.experts ? bucket.parameters.experts : 0;
            c.buckets.push_back({bucket.last - 1, whole(dense * made),
                                 whole(experts * (made + (padding - 1) * plan.gradient_bytes)),
                                 whole(dense / shards.dense * stored), whole(experts / shards.experts * stored)});
        }
    }
    return c;
}

}  // namespace auspex::schedule
