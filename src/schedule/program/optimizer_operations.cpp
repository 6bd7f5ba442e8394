/// @file The optimizer block: reduction of gradients, norm, update, gathering of parameters, and the step's global
/// synchronisations.
#include <algorithm>

#include <span>
#include <vector>

#include "schedule/program/block_builder.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {
namespace {

/// How one part of the parameters (dense or experts) is reduced and sharded.
struct Shard {
    ShardGroups groups;
    int size = 1;  ///< ranks over which states are sharded; 1 when replicated
};

Shard shard_of(const models::Plan& plan, const models::Layout& layout, bool experts) {
    const ShardGroups groups = shard_groups(plan, experts);
    return {groups, groups.is_sharded ? group_size(layout, groups.shard) : 1};
}

void barrier(BlockBuilder& b, int ranks) {
    const Value done =
        b.communicate(OpKind::kBarrier, Stream::kDp, CommKind::kBarrier, models::GroupKind::kWorld, ranks, {}, {});
    b.require(done);
    b.host(OpKind::kHostSync, b.shapes().stack.host_sync_s);
}

void world_all_reduce(BlockBuilder& b, int ranks, Carries carries) {
    const double values = carries == Carries::kLoss ? b.shapes().stack.loss_terms : ranks;
    b.communicate(OpKind::kWorldAllReduce, Stream::kDp, CommKind::kAllReduce, models::GroupKind::kWorld, ranks,
                  {{values, ElementType::kFp32}}, {}, {.carries = carries});
}

}  // namespace

Value emit_gradient_reduction(BlockBuilder& b, const models::Layout& layout, const StageParameters& p, int unit,
                              int chunk) {
    const Shapes& s = b.shapes();
    const bool replicated = s.plan.optimizer == models::OptimizerSharding::kReplicated;
    const CommKind comm = replicated ? CommKind::kAllReduce : CommKind::kReduceScatter;
    Value last = kNoValue;
    const auto reduce = [&](OpKind kind, CommKind how, models::GroupKind group, double elements, int repeat) {
        const Value sum =
            b.communicate(kind, Stream::kDp, how, group, group_size(layout, group),
                          {{elements, ElementType::kGradient}}, {}, {.repeat = repeat, .unit = unit, .chunk = chunk});
        last = sum != kNoValue ? sum : last;
    };
    reduce(OpKind::kGradientTpAllReduce, CommKind::kAllReduce, models::GroupKind::kTp, p.summed_over_tp, 1);
    if (s.plan.optimizer == models::OptimizerSharding::kSharded) {
        const int tensors = s.stack.per_parameter_ep_all_reduce ? std::max(1, p.replicated_tensors) : 1;
        reduce(OpKind::kGradientEpAllReduce, CommKind::kAllReduce, models::GroupKind::kDenseDpInner, p.dense / tensors,
               tensors);
    }
    const auto reduce_part = [&](OpKind kind, const Shard& shard, double elements) {
        reduce(kind, comm, shard.groups.shard, elements, 1);
        if (shard.groups.replicas) {
            reduce(kind, CommKind::kAllReduce, *shard.groups.replicas, elements / shard.size, 1);
        }
    };
    const Shard experts = shard_of(s.plan, layout, true);
    reduce_part(OpKind::kGradientReduceExperts, experts,
                p.experts * expert_padding(s.workload, s.plan, s.stack, experts.size));
    reduce_part(OpKind::kGradientReduceDense, shard_of(s.plan, layout, false), p.dense);
    return last;
}

OptimizerShards optimizer_shards(const models::Plan& plan, const models::Layout& layout) {
    return {shard_of(plan, layout, false).size, shard_of(plan, layout, true).size};
}

namespace {

/// Both ends of the model exchange their gradients of the table and add them up. Where ranks reduce gradients in this
/// block, they do so before: then a rank has all of its own, whichever shard of the sums it will have. Where gradients
/// are sharded, it has the sums' shard of the table.
Value exchange_tied_gradient(BlockBuilder& b, int stage, int shards) {
    const Shapes& s = b.shapes();
    const double elements =
        tied_copy_parameters(s.workload, s.plan) / (shards_gradients(s.plan.optimizer) ? shards : 1);
    const int head_stage = head_stage_of(s.plan);
    if (elements == 0 || (stage != 0 && stage != head_stage)) {
        return kNoValue;
    }
    return b.communicate(OpKind::kTiedEmbeddingAllReduce, Stream::kDp, CommKind::kSend,
                         stage == 0 ? models::GroupKind::kPreviousStage : models::GroupKind::kNextStage, 2,
                         {{elements, ElementType::kGradient}}, {});
}

/// Parameters of a stage that are summed and gathered together: all, or where stages are there twice those of a chunk.
struct Together {
    int chunk = -1;
    StageParameters parameters;
};

std::vector<Together> summed_together(const Shapes& s, int stage) {
    if (!has_stages_twice(s.plan.schedule)) {
        return {{-1, stage_parameters(s.workload, s.plan, stage)}};
    }
    std::vector<Together> list;
    for (int chunk = 0; chunk < s.plan.virtual_stages; ++chunk) {
        list.push_back({chunk, chunk_parameters(s.workload, s.plan, stage, chunk)});
    }
    return list;
}

/// Where stages are there twice: the rank's shard of a chunk goes to the mirror stage, which has the same shard, and
/// the mirror's comes back.
Value exchange_with_mirror(BlockBuilder& b, const models::Layout& layout, OpKind kind, int stage, int chunk,
                           ElementType type) {
    const Shapes& s = b.shapes();
    if (!has_stages_twice(s.plan.schedule)) {
        return kNoValue;
    }
    const double elements = mirrored_elements(s.workload, s.plan, s.stack, layout, stage, chunk);
    return b.communicate(kind, Stream::kDp, CommKind::kSend, models::GroupKind::kMirrorStage,
                         group_size(layout, models::GroupKind::kMirrorStage), {{elements, type}}, {});
}

/// Counts of each expert's tokens, over all ranks that route others, and the step of its bias: up where it had fewer
/// than the mean, down where it had more (arXiv:2408.15664). Etp ranks count the same tokens. Where stages are there
/// twice both copies need what both have counted.
void update_router_bias(BlockBuilder& b, const models::Layout& layout, int stage) {
    const Shapes& s = b.shapes();
    int layers = 0;
    for (int chunk = 0; chunk < s.plan.virtual_stages; ++chunk) {
        const LayerRange range = layers_of(s.workload, s.plan, virtual_stage_of(s.plan, chunk, stage));
        layers += range.last - std::clamp(s.workload.first_dense_layers, range.first, range.last);
    }
    if (!s.workload.router_bias || layers == 0) {
        return;
    }
    constexpr double kPasses = 4;  // mean, difference, sign, step
    const double numbers = static_cast<double>(layers) * s.workload.num_experts;
    Value counted = kNoValue;
    const auto sum_over = [&](models::GroupKind group) {
        counted = b.communicate(OpKind::kRouterBiasUpdate, Stream::kDp, CommKind::kAllReduce, group,
                                group_size(layout, group), {{numbers, ElementType::kFp32}}, {counted});
    };
    if (s.plan.etp == s.plan.tp) {
        sum_over(models::GroupKind::kDenseDp);
    } else {
        sum_over(models::GroupKind::kEp);
        sum_over(models::GroupKind::kExpertDp);
    }
    if (has_stages_twice(s.plan.schedule)) {
        counted = b.communicate(OpKind::kRouterBiasUpdate, Stream::kDp, CommKind::kSend,
                                models::GroupKind::kMirrorStage, 2, {{numbers, ElementType::kFp32}}, {counted});
    }
    b.compute(OpKind::kRouterBiasUpdate, {counted}, {models::memory_kernel(kPasses * 2 * numbers * 4, kPasses)});
}

}  // namespace

std::uint32_t build_optimizer_block(BlockBuilder& b, const models::Layout& layout, int stage, bool gradients_reduced) {
    const Shapes& s = b.shapes();
    const StageParameters p = stage_parameters(s.workload, s.plan, stage);
    const StageParameters updated = updated_parameters(s.workload, s.plan, stage);
    const bool are_twice = has_stages_twice(s.plan.schedule);
    const Shard dense = shard_of(s.plan, layout, false), experts = shard_of(s.plan, layout, true);
    const int all = s.plan.post_validation ? 1 : layout.tiles;  // operations of one rank are none
    b.begin(BlockKind::kOptimizer, 0, false);
    b.set(Phase::kOptimizer, -1);
    b.join({Stream::kTp, Stream::kEp, Stream::kPp, Stream::kDp, Stream::kCp});
    b.host(OpKind::kHostSync, s.stack.host_sync_s);
    if (s.stack.barriers_per_step > 0 && !s.plan.post_validation) {
        barrier(b, layout.tiles);
    }
    const double shard = updated.dense / dense.size + updated.experts / experts.size;
    if (s.stack.check_gradients) {
        b.compute(OpKind::kGradientCheck, {},
                  {models::memory_kernel(
                      (shards_gradients(s.plan.optimizer) ? shard : p.dense + p.experts) * s.plan.gradient_bytes, 1)});
        world_all_reduce(b, all, Carries::kHealth);
    }
    Value reduced = exchange_tied_gradient(b, stage, dense.size);
    const std::vector<Together> together = summed_together(s, stage);
    for (const Together& one : together) {
        const Value sum =
            gradients_reduced ? kNoValue : emit_gradient_reduction(b, layout, one.parameters, -1, one.chunk);
        reduced = sum != kNoValue ? sum : reduced;  // behind the exchange: one stream
    }
    if (are_twice) {
        reduced = exchange_with_mirror(b, layout, OpKind::kMirrorGradientExchange, stage, 1, ElementType::kGradient);
    }
    const bool has_copy = stage > 0 && stage == head_stage_of(s.plan);
    const double counted = shard - (has_copy ? tied_copy_parameters(s.workload, s.plan) / dense.size : 0);
    const double passes_of_norm = are_twice ? 1 + 3 : 1;  // the mirror's sums read, and added
    b.compute(OpKind::kGradientNorm, {reduced},
              {models::memory_kernel(passes_of_norm * counted * s.plan.gradient_bytes, are_twice ? 3 : 2)});
    const Value norm = b.communicate(OpKind::kGradientNormAllReduce, Stream::kDp, CommKind::kAllReduce,
                                     models::GroupKind::kWorld, all, {{1, ElementType::kFp32}}, {});
    const double passes = s.stack.kernels.optimizer;
    // Moments and the fp32 copy are read and written, the gradient is read; weights that have no such copy are read,
    // too.
    const double states = 2 * (models::moment_bytes(s.plan) + models::master_bytes(s.plan)) +
                          (models::master_bytes(s.plan) > 0 ? 0 : s.plan.weight_bytes);
    const double written = casts_shards(s.plan, s.stack) ? 0 : s.plan.weight_bytes;  // of the copy that passes read
    b.require(norm);
    std::vector<models::Kernel> update{
        models::memory_kernel(passes * shard * (states + models::stored_gradient_bytes(s.plan) + written), passes)};
    if (s.plan.fp8 != models::Fp8::kNone) {
        update.push_back(cast_to_fp8(s.plan, parameters_in_fp8(s.workload, s.plan, stage)));
    }
    b.compute(OpKind::kOptimizerUpdate, {}, std::span<const models::Kernel>(update));
    update_router_bias(b, layout, stage);
    exchange_with_mirror(b, layout, OpKind::kMirrorParameterExchange, stage, 0, ElementType::kValue);
    const bool gathers = !gathers_in_passes(s.plan) && !gathers_updated(s.plan, s.stack) && dense.groups.is_sharded;
    for (const Together& one : together) {
        if (gathers) {
            b.communicate(OpKind::kParameterGatherExperts, Stream::kDp, CommKind::kAllGather, experts.groups.shard,
                          experts.size, {{one.parameters.experts}}, {}, {.chunk = one.chunk});
            b.communicate(OpKind::kParameterGatherDense, Stream::kDp, CommKind::kAllGather, dense.groups.shard,
                          dense.size, {{one.parameters.dense}}, {}, {.chunk = one.chunk});
        }
    }
    if (s.stack.world_all_reduces_per_step > 0) {
        world_all_reduce(b, all, Carries::kLoss);
    }
    for (int i = s.stack.check_gradients ? 2 : 1; i < s.stack.world_all_reduces_per_step; ++i) {
        world_all_reduce(b, all, Carries::kHealth);
    }
    for (int i = 1; !s.plan.post_validation && i < s.stack.barriers_per_step; ++i) {
        barrier(b, layout.tiles);
    }
    b.join({Stream::kDp});
    b.host(OpKind::kStepHost, s.stack.step_host_s);
    return b.end();
}

}  // namespace auspex::schedule
