/// @file Peak memory of a stage: static parts, and activations as the order of passes stacks them.
#include "schedule/memory.hpp"

#include <algorithm>
#include <map>

#include "schedule/block_builder.hpp"

namespace auspex {
namespace {

/// Bytes that one micro-batch keeps for one layer, by half, and the full working set of each half when it runs.
struct LayerActivations {
    double kept = 0;
    double working = 0;  ///< the larger half with everything it makes, and as much again for gradients
};

/// Keys and values are those of the whole sequence where cp gathers them.
double attention_bytes(const Shapes& s) {
    const Workload& w = s.workload;
    const AttentionWidths widths = attention_widths(s);
    const bool latent = w.attention == AttentionKind::kLatent;
    const double heads = w.heads / s.tp;
    const double key_value = latent ? widths.qk + widths.value : widths.key_value;
    const double latents = latent ? w.q_rank + w.kv_rank + w.rope_head_size : 0;
    const double local = widths.query + widths.value + latents + widths.rotated + widths.normed;
    return s.t * s.a * (local + s.plan.cp * key_value) + s.t * heads * 4;
}

double dense_bytes(const Shapes& s) {
    const double gates = s.workload.feed_forward == FeedForward::kSwiGlu ? 2 : 1;
    return s.t * s.a * (gates + 1) * s.workload.intermediate_size / s.tp;
}

double mixture_bytes(const Shapes& s, double heaviest_rank) {
    const double rows = s.routed_rows * heaviest_rank;
    const double received = s.sent ? rows : s.gathered;
    const double experts = rows * s.a * (2 * s.h + 3 * s.expert_size) + received * s.h * s.a;
    const double router = s.t_routed * s.workload.num_experts * 4 * 2;
    const double shared = s.t * s.a * 3 * s.workload.shared_experts * s.workload.expert_size / s.tp;
    const double counted = s.sent ? s.t_routed : s.gathered;
    const double masks =
        s.plan.expert_kernels == ExpertKernels::kLoop ? counted * s.workload.top_k * s.workload.num_experts * 8 : 0;
    return experts + router + shared + masks;
}

LayerActivations layer_activations(const Shapes& s, int layer, double heaviest_rank) {
    const Plan& plan = s.plan;
    const double stream = s.t_norm * s.h * s.a;
    const double attention = attention_bytes(s);
    const double feed_forward = s.workload.is_moe_layer(layer) ? mixture_bytes(s, heaviest_rank) : dense_bytes(s);
    LayerActivations bytes;
    bytes.kept = 2 * stream + (plan.recompute_norm ? 0 : 2 * stream) + (plan.recompute_attention ? 0 : attention) +
                 (plan.recompute_expert ? 0 : feed_forward);
    const double again = std::max(plan.recompute_attention ? attention : 0, plan.recompute_expert ? feed_forward : 0);
    bytes.working = again + std::max(attention, feed_forward);
    return bytes;
}

double kept_bytes(const Shapes& s, LayerRange range, double heaviest_rank) {
    double sum = 0;
    for (int layer = range.first; layer < range.last; ++layer) {
        sum += layer_activations(s, layer, heaviest_rank).kept;
    }
    return sum;
}

double travelling_logits(const Shapes& s, int v) {
    if (!s.stack.router_logits_travel || !s.workload.global_aux_loss) {
        return 0;
    }
    const int layers = layers_of(s.workload, s.plan, v).last - s.workload.first_dense_layers;
    return std::max(0, layers) * s.t * s.workload.num_experts * s.a;
}

/// Live activations while the passes of the stage run in order; finds the peak.
struct Peak {
    double activations = 0, router_logits = 0, logits = 0, workspace = 0;
    std::string where;
    [[nodiscard]] double sum() const { return activations + router_logits + logits + workspace; }
};

Peak activation_peak(const Shapes& s, const Program& program, const Role& role, double heaviest_rank) {
    std::vector<double> kept, travelling;
    double working = 0;
    for (int chunk = 0; chunk < s.plan.virtual_stages; ++chunk) {
        const int v = chunk * s.plan.pp + role.stage;
        const LayerRange range = layers_of(s.workload, s.plan, v);
        kept.push_back(kept_bytes(s, range, heaviest_rank));
        travelling.push_back(travelling_logits(s, v));
        for (int layer = range.first; layer < range.last; ++layer) {
            working = std::max(working, layer_activations(s, layer, heaviest_rank).working);
        }
    }
    Peak peak;
    double activations = 0, router_logits = 0;
    for (const BlockUse& use : role.order) {
        const Block& block = program.blocks[use.block];
        if (block.kind == BlockKind::kOptimizer) {
            continue;
        }
        const auto chunk = static_cast<std::size_t>(block.chunk);
        const bool backward = block.kind == BlockKind::kBackward;
        if (!backward) {
            activations += kept[chunk];
            router_logits += travelling[chunk];
        }
        const bool head = block.chunk * s.plan.pp + role.stage == s.plan.pp * s.plan.virtual_stages - 1;
        const double logits = head ? s.t * s.workload.vocab_size / s.tp * (s.a + 4) * (backward ? 1 : 0.5) : 0;
        const Peak now{activations, router_logits, logits, backward ? working : working / 2,
                       std::string(to_string(block.kind)) + " of micro-batch " + std::to_string(use.micro_batch)};
        if (now.sum() > peak.sum()) {
            peak = now;
        }
        if (backward) {
            activations -= kept[chunk];
            router_logits -= travelling[chunk];
        }
    }
    return peak;
}

/// Parameters of the largest part of a stage that fsdp gathers at a time: a layer, the embedding, or the LM head.
double largest_unit(const Workload& workload, const Plan& plan, int stage) {
    double largest = 0;
    for (const StageParameters& unit : stage_units(workload, plan, stage)) {
        largest = std::max(largest, unit.dense + unit.experts);
    }
    return largest;
}

}  // namespace

StageMemory stage_memory(const Workload& workload, const Plan& plan, const Stack& stack, const Machine& machine,
                         const Layout& layout, const Program& program, int stage, double heaviest_rank) {
    const Shapes s = shapes_of(workload, plan, stack);
    const StageParameters p = stage_parameters(workload, plan, stage);
    const OptimizerShards shards = optimizer_shards(plan, layout);
    const double states = p.dense / shards.dense + p.experts / shards.experts;
    const bool fsdp = plan.optimizer == OptimizerSharding::kFsdp;
    const double held = fsdp ? states : p.dense + p.experts;
    const double unit = fsdp ? largest_unit(workload, plan, stage) : 0;
    double message = 0;
    for (int boundary = stage - 1; boundary <= stage; ++boundary) {
        if (boundary >= 0 && boundary < plan.pp - 1) {
            message += message_bytes(workload, plan, stack, boundary);
        }
    }
    const Peak peak = activation_peak(s, program, program.roles[static_cast<std::size_t>(stage)], heaviest_rank);
    StageMemory memory;
    memory.stage = stage;
    memory.by_label = {{"weights", held * plan.weight_bytes},
                       {"gradients", held * plan.gradient_bytes},
                       {"master_weights", plan.weight_bytes < 4 ? states * 4 : 0},
                       {"moments", states * 8},
                       {"activations", peak.activations},
                       {"router_logits", peak.router_logits},
                       {"logits", peak.logits},
                       {"workspace", peak.workspace},
                       {"communication", message + 2 * unit * (plan.weight_bytes + plan.gradient_bytes)},
                       {"runtime", machine.tile.reserved_bytes}};
    for (const auto& [label, bytes] : memory.by_label) {
        memory.peak_bytes += bytes;
    }
    memory.peak_operation = peak.where;
    return memory;
}

}  // namespace auspex
