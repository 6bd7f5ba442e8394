/// @file The kernel calls of the optimizer block, and of the start of a step.
#include <utility>

#include "schedule/kernel_calls/call_lists.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {
namespace {

/// Numbers of what a stage updates of its two arrays: elements, and how many tensors lie in each
/// (exec/state/parameters.hpp).
struct Arrays {
    double dense = 0, experts = 0;
    double dense_tensors = 0, expert_tensors = 0;
};

/// Tensors of a norm.
double norm_tensors(const models::Workload& w) {
    return w.norm == models::NormKind::kLayer ? 2 : w.norm == models::NormKind::kRms ? 1 : 0;
}

/// Whether `with_copy` or without the table that tied embeddings hold a second time.
Arrays arrays_of(const models::Workload& w, const models::Plan& plan, int stage, bool with_copy) {
    const StageParameters p = updated_parameters(w, plan, stage);
    Arrays a{p.dense, p.experts};
    bool is_first = false, is_last = false;
    for (int chunk = 0; chunk < (has_stages_twice(plan.schedule) ? 1 : plan.virtual_stages); ++chunk) {
        const int v = virtual_stage_of(plan, chunk, stage);
        is_first = is_first || is_first_part(plan, v);
        is_last = is_last || is_last_part(plan, v);
        const LayerRange range = layers_of(w, plan, v);
        for (int layer = range.first; layer < range.last; ++layer) {
            a.dense_tensors += replicated_tensors_per_layer(w, layer);
            a.expert_tensors +=
                w.is_moe_layer(layer) ? (w.gates() + 1.0) * (w.biases ? 2 : 1) * w.num_experts / plan.ep : 0;
        }
    }
    const double copied = is_last ? tied_copy_parameters(w, plan) : 0;
    a.dense_tensors += (is_first ? 1 : 0) + (is_first && w.learned_positions ? 1 : 0) +
                       (is_last ? norm_tensors(w) : 0) + (is_last && !w.tied_embeddings ? 1 : 0) +
                       (with_copy && copied > 0 ? 1 : 0);
    a.dense -= with_copy ? 0 : copied;
    return a;
}

/// The rank's shards: elements, and the parts of tensors that they are made of. The ends of shards cut tensors,
/// which adds a part to each shard but one, for each bucket that is cut by itself.
struct Shards {
    double elements = 0, parts = 0;
};
Shards shards_of(const LocalShapes& z, bool with_copy) {
    const Arrays a = arrays_of(z.s.workload, z.s.plan, z.stage, with_copy);
    const OptimizerShards n = optimizer_shards(z.s.plan, z.layout);
    int dense_cuts = 0, expert_cuts = 0;
    for (const StageParameters& part : updated_parts(z.s.workload, z.s.plan, z.s.stack, z.stage)) {
        dense_cuts += part.dense > 0 ? 1 : 0;
        expert_cuts += part.experts > 0 ? 1 : 0;
    }
    const auto parts = [](double tensors, int cuts, int shards) {
        return tensors > 0 ? (tensors + static_cast<double>(cuts) * (shards - 1)) / shards : 0;
    };
    return {a.dense / n.dense + a.experts / n.experts,
            parts(a.dense_tensors, dense_cuts, n.dense) + parts(a.expert_tensors, expert_cuts, n.experts)};
}

models::CpuCall cold_call(models::CpuKernel kernel, double columns, double bytes) {
    models::CpuCall call = flat_call(kernel, columns);
    call.cold_bytes = bytes;
    return call;
}

/// One call for each of the two arrays of gradients that is not empty: all of the stage's, or a rank's shards.
std::vector<models::CpuCall> over_gradients(const models::Workload& workload, const models::Plan& plan,
                                            const models::Layout& layout, int stage, models::CpuKernel kernel,
                                            double columns_per_element) {
    const StageParameters p = stage_parameters(workload, plan, stage);
    const OptimizerShards n = shards_gradients(plan.optimizer) ? optimizer_shards(plan, layout) : OptimizerShards{};
    std::vector<models::CpuCall> calls;
    for (const double elements : {p.dense / n.dense, p.experts / n.experts}) {
        if (elements > 0) {
            calls.push_back(cold_call(kernel, elements * columns_per_element, elements * plan.gradient_bytes));
        }
    }
    return calls;
}

/// Units [first, last) of a virtual stage whose gradients an operation sums.
struct SummedUnits {
    int virtual_stage = 0, first = 0, last = 0;
};

/// All units of the stage's virtual stages, of the operation's chunk, or those of the operation's bucket (a kernel's:
/// with which it begins).
std::vector<SummedUnits> units_summed(const LocalShapes& z, const Operation& op) {
    const models::Plan& plan = z.s.plan;
    std::vector<SummedUnits> list;
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        const int v = virtual_stage_of(plan, chunk, z.stage);
        const LayerRange layers = layers_of(z.s.workload, plan, v);
        if (op.chunk >= 0 && op.chunk != chunk) {
            continue;
        }
        if (op.unit < 0) {
            list.push_back({v, 0, unit_of_embedding(layers) + 1});
            continue;
        }
        const bool is_of_head = op.comm == CommKind::kNone ? op.kind != OpKind::kEmbedding : op.unit == kUnitOfHead;
        const bool is_here = op.layer >= 0 ? op.layer >= layers.first && op.layer < layers.last
                             : is_of_head  ? is_last_part(plan, v)
                                           : is_first_part(plan, v);
        for (const GradientBucket& bucket : gradient_buckets(z.s.workload, plan, z.s.stack, v)) {
            if (is_here && bucket.last == op.unit + 1) {
                list.push_back({v, bucket.first, bucket.last});
            }
        }
    }
    return list;
}

/// Tensors of which every tp rank has a part of the gradient (StageParameters::summed_over_tp), each copied: routers,
/// what makes latents and normalises them, and with sequence parallelism norms of the residual stream.
std::vector<models::CpuCall> copies_of_summed_tensors(const LocalShapes& z, const Operation& op) {
    const models::Workload& w = z.s.workload;
    double routers = 0, norms = 0, layers = 0, predictions = 0;
    for (const SummedUnits& units : units_summed(z, op)) {
        const LayerRange range = layers_of(w, z.s.plan, units.virtual_stage);
        for (int layer = range.first; layer < range.last; ++layer) {
            const int unit = unit_of_layer(range, layer);
            const bool is_summed = unit >= units.first && unit < units.last;
            routers += is_summed && w.is_moe_layer(layer) ? 1 : 0;
            norms += is_summed ? (range.predicts(layer) ? 5 : 2) : 0;
            layers += is_summed ? 1 : 0;
            predictions += is_summed && range.predicts(layer) ? 1 : 0;
        }
        const bool has_head = units.first <= unit_of_head(range) && is_last_part(z.s.plan, units.virtual_stage);
        norms += has_head ? 1 : 0;
    }
    const double latents = w.attention == models::AttentionKind::kLatent ? layers : 0;
    const double of_queries = w.q_rank > 0 ? latents : 0, kv_latent = w.kv_rank + w.rope_head_size;
    norms *= z.s.plan.sequence_parallel ? norm_tensors(w) : 0;
    predictions *= z.s.plan.sequence_parallel ? 1 : 0;
    std::vector<models::CpuCall> calls;
    for (const auto& [tensors, elements] : {std::pair{routers, z.all_experts * z.s.h},
                                            {w.biases ? routers : 0, z.all_experts},
                                            {norms, z.s.h},
                                            {predictions, 2 * z.s.h * z.s.h},
                                            {w.biases ? predictions : 0, z.s.h},
                                            {of_queries, w.q_rank * z.s.h},
                                            {of_queries, double(w.q_rank)},
                                            {latents, kv_latent * z.s.h},
                                            {latents, double(w.kv_rank)}}) {
        if (tensors > 0) {
            calls.push_back(cold_call(models::CpuKernel::kCopy, elements * z.g, elements * z.g));
            calls.back().repeat = tensors;
        }
    }
    return calls;
}

/// The bucket of a sum in a pass, or of a kernel with which its gradients begin.
StageParameters bucket_of(const LocalShapes& z, const Operation& op) {
    for (const SummedUnits& units : units_summed(z, op)) {
        for (const GradientBucket& bucket : gradient_buckets(z.s.workload, z.s.plan, z.s.stack, units.virtual_stage)) {
            if (bucket.last == op.unit + 1) {
                return bucket.parameters;
            }
        }
    }
    return {};
}

/// Where gradients are sharded the last sum of a bucket's part is behind what the rank's shard of it is added to its
/// own by. Where they wait for a pass of their own the bucket is cleared for the next micro-batch.
std::vector<models::CpuCall> addition_of_shard(const LocalShapes& z, const Operation& op) {
    const models::Plan& plan = z.s.plan;
    if (op.unit < 0 || !shards_gradients(plan.optimizer)) {
        return {};
    }
    const bool experts = op.kind == OpKind::kGradientReduceExperts, over_tp = op.kind == OpKind::kGradientTpAllReduce;
    const ShardGroups groups = shard_groups(plan, experts);
    const int shards = group_size(z.layout, groups.shard);
    const bool is_last = groups.replicas ? op.group == *groups.replicas : !over_tp || shards == 1;
    if (!is_last) {
        return {};
    }
    const StageParameters bucket = bucket_of(z, op);
    const double whole = experts ? bucket.experts : bucket.dense, own = whole / shards;
    std::vector<models::CpuCall> calls{cold_call(models::CpuKernel::kAdd, own, own * z.g)};
    if (splits_backward(plan.schedule)) {
        calls.push_back(cold_call(models::CpuKernel::kZero, whole * z.g, whole * z.g));
    }
    return calls;
}

/// A unit's weights are gathered into a tensor that begins with the rank's shard.
std::vector<models::CpuCall> copy_of_shard(const LocalShapes& z, const Operation& op) {
    if (op.unit < 0 || !shards_weights(z.s.plan)) {
        return {};
    }
    const double bytes = op.bytes / group_size(z.layout, op.group);
    return {cold_call(models::CpuKernel::kCopy, bytes, bytes)};
}

/// What a rank brings to a sum in a pass is looked at before it leaves, once: not again where it has been summed over
/// ep, or over the ranks that shard it.
std::vector<models::CpuCall> check_of_sum(const LocalShapes& z, const Operation& op) {
    const bool over_replicas =
        op.group == models::GroupKind::kShardReplicas &&
        group_size(z.layout, shard_groups(z.s.plan, op.kind == OpKind::kGradientReduceExperts).shard) > 1;
    const bool has_been_summed = over_replicas || (op.kind == OpKind::kGradientReduceDense &&
                                                   z.s.plan.optimizer == models::OptimizerSharding::kSharded &&
                                                   group_size(z.layout, models::GroupKind::kDenseDpInner) > 1);
    if (op.unit < 0 || has_been_summed) {
        return {};
    }
    const double bytes = op.bytes * op.repeat;
    return {cold_call(models::CpuKernel::kFiniteCheckGradients, bytes / z.g,
                      op.kind == OpKind::kGradientTpAllReduce ? 0 : bytes)};
}

/// Shards are sent, and what comes is added to the rank's sums, or put where its weights are.
void exchange_with_mirror(const LocalShapes& z, const Operation& op, OperationCalls& calls) {
    const bool gradients = op.kind == OpKind::kMirrorGradientExchange;
    const double coming = mirrored_elements(z.s.workload, z.s.plan, z.s.stack, z.layout, z.stage, gradients ? 0 : 1);
    const double bytes = coming * (gradients ? z.g : z.s.plan.weight_bytes);
    calls.before = {cold_call(models::CpuKernel::kCopy, op.bytes, op.bytes)};
    calls.after = {gradients ? cold_call(models::CpuKernel::kAdd, coming, bytes)
                             : cold_call(models::CpuKernel::kCopy, bytes, bytes)};
}

models::CpuCall gradient_norm(const LocalShapes& z) {
    const Shards shards = shards_of(z, false);
    models::CpuCall call =
        cold_call(models::CpuKernel::kSquareSum, shards.elements / shards.parts, shards.elements / shards.parts * z.g);
    call.repeat = shards.parts;
    return call;
}

/// Moments, master weights where there are some, the gradient, and the weight, which fp32 reads too.
models::CpuCall optimizer_update(const LocalShapes& z) {
    const Shards shards = shards_of(z, true);
    models::CpuCall call = cold_call(models::CpuKernel::kAdamW, shards.elements, 0);
    call.rows = shards.parts;
    call.cold_bytes = cpu_bytes(call, cpu_precision(z.s.plan));
    return call;
}

/// Layers of the stage with experts.
double routed_layers(const LocalShapes& z) {
    double layers = 0;
    for (int chunk = 0; chunk < z.s.plan.virtual_stages; ++chunk) {
        const LayerRange range = layers_of(z.s.workload, z.s.plan, virtual_stage_of(z.s.plan, chunk, z.stage));
        for (int layer = range.first; layer < range.last; ++layer) {
            layers += z.s.workload.is_moe_layer(layer) ? 1 : 0;
        }
    }
    return layers;
}

}  // namespace

bool step_calls(const LocalShapes& z, const Operation& op, OperationCalls& calls) {
    switch (op.kind) {
        case OpKind::kGradientCheck:
            calls.before =
                over_gradients(z.s.workload, z.s.plan, z.layout, z.stage, models::CpuKernel::kFiniteCheckGradients, 1);
            return true;
        case OpKind::kGradientTpAllReduce:  // tensors copied into one buffer, and back
            calls.after = calls.before = copies_of_summed_tensors(z, op);
            for (const models::CpuCall& check : check_of_sum(z, op)) {
                calls.before.push_back(check);
            }
            for (const models::CpuCall& call : addition_of_shard(z, op)) {
                calls.after.push_back(call);
            }
            return true;
        case OpKind::kTiedEmbeddingAllReduce: {  // sent, and the other's added to the own
            const double elements = tied_copy_parameters(z.s.workload, z.s.plan);
            calls.before = {cold_call(models::CpuKernel::kCopy, elements * z.g, elements * z.g)};
            calls.after = {cold_call(models::CpuKernel::kAdd, elements, elements * z.g)};
            return true;
        }
        case OpKind::kMirrorGradientExchange:
        case OpKind::kMirrorParameterExchange: exchange_with_mirror(z, op, calls); return true;
        case OpKind::kGradientNorm: calls.before = {gradient_norm(z)}; return true;
        case OpKind::kOptimizerUpdate: calls.before = {optimizer_update(z)}; return true;
        case OpKind::kRouterBiasUpdate:  // counts are summed in place
            if (op.comm == CommKind::kNone) {
                calls.before = {flat_call(models::CpuKernel::kAdd, routed_layers(z) * z.all_experts)};
            }
            return true;
        case OpKind::kGradientEpAllReduce:
        case OpKind::kGradientReduceExperts:
        case OpKind::kGradientReduceDense:
            calls.before = check_of_sum(z, op);
            calls.after = addition_of_shard(z, op);
            return true;
        case OpKind::kParameterGatherExperts:
        case OpKind::kParameterGatherDense: calls.before = copy_of_shard(z, op); return true;
        case OpKind::kGradientNormAllReduce:
        case OpKind::kWorldAllReduce:
        case OpKind::kHostSync:
        case OpKind::kHostIssue:
        case OpKind::kBarrier:
        case OpKind::kStepHost: return true;  // in place, or nothing
        default: return false;
    }
}

std::vector<models::CpuCall> cleared_gradients(const LocalShapes& z, const Operation& op) {
    std::vector<models::CpuCall> calls;
    if (op.comm != CommKind::kNone || op.unit < 0) {
        return calls;
    }
    const StageParameters bucket = bucket_of(z, op);
    const SummedParts summed = summed_parts(z.s.plan, z.layout, bucket);
    for (const double elements : {summed.dense ? bucket.dense : 0, summed.experts ? bucket.experts : 0}) {
        if (elements > 0) {
            calls.push_back(cold_call(models::CpuKernel::kZero, elements * z.g, elements * z.g));
        }
    }
    return calls;
}

std::vector<models::CpuCall> step_start_calls(const models::Workload& workload, const models::Plan& plan,
                                              const models::Layout& layout, int stage) {
    return over_gradients(workload, plan, layout, stage, models::CpuKernel::kZero, plan.gradient_bytes);
}

}  // namespace auspex::schedule
