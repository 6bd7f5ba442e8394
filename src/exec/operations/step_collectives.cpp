/// @file Which ranges of which array go over which group.
#include "exec/operations/step_collectives.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "exec/kernels/copies.hpp"
#include "exec/operations/health.hpp"
#include "exec/operations/operations.hpp"
#include "exec/state/optimizer.hpp"
#include "exec/state/unit_arrays.hpp"

namespace auspex::exec {
namespace {

template <class P>
StepCollective all_reduce_of(Rank<P>& rank, const schedule::Operation& op, bool experts, FlatRange range) {
    using G = typename P::Gradient;
    Buffer<G>& gradients = experts ? rank.weights.experts_gradient : rank.weights.dense_gradient;
    return {
        schedule::CommKind::kAllReduce, op.group, gradients.data() + range.begin, range.size(), {}, element_type<G>()};
}

/// Over the ranks that own the same shard of the dense part: all at once, or, where the operation is repeated, tensor
/// by tensor.
template <class P>
std::vector<StepCollective> sums_over_ep(Rank<P>& rank, const schedule::Operation& op, FlatRange range) {
    if (op.repeat == 1) {
        return {all_reduce_of(rank, op, false, range)};
    }
    std::vector<StepCollective> list;
    for (const Parameter& p : rank.table.dense) {
        if (p.offset >= range.begin && p.offset < range.end) {
            list.push_back(all_reduce_of(rank, op, false, {p.offset, p.offset + p.size}));
        }
    }
    return list;
}

/// Offsets of shards within their range.
std::vector<std::size_t> offsets_within(FlatRange range, int shards) {
    return shard_offsets({0, range.size()}, shards);
}

/// Over the ranks that shard the range, or of the rank's shard over those that have the same one.
template <class P>
StepCollective sum_of(Rank<P>& rank, const schedule::Operation& op, bool experts, FlatRange range) {
    const Sharding sharding = sharding_of(rank, experts);
    if (!sharding.is_sharded) {
        return all_reduce_of(rank, op, experts, range);
    }
    auto* const begin = gradients_from(rank, experts, range.begin);
    const ElementType type = element_type<typename P::Gradient>();
    std::vector<std::size_t> offsets = offsets_within(range, rank.communicator->size(sharding.shard_group));
    if (op.comm == schedule::CommKind::kAllReduce) {
        const std::size_t own = offsets[sharding.shard_index], end = offsets[sharding.shard_index + 1];
        return {schedule::CommKind::kAllReduce, op.group, begin + own, end - own, {}, type};
    }
    return {schedule::CommKind::kReduceScatter, op.group, begin, 0, std::move(offsets), type};
}

template <class P>
std::vector<StepCollective> gathers_of(Rank<P>& rank, const schedule::Operation& op, bool experts) {
    using V = typename P::Value;
    Buffer<V>& weights = experts ? rank.weights.experts : rank.weights.dense;
    std::vector<StepCollective> list;
    Sharding sharding = sharding_of(rank, experts);
    for (std::vector<std::size_t>& offsets : sharding.parts) {
        const int chunk = offsets.front() < sharding.updated ? 0 : 1;
        if (op.chunk < 0 || op.chunk == chunk) {
            list.push_back(
                {schedule::CommKind::kAllGather, op.group, weights.data(), 0, std::move(offsets), element_type<V>()});
        }
    }
    return list;
}

/// Of a unit in a pass: into a tensor of its own, to which the rank's shard is copied, or where all weights are.
template <class P>
StepCollective gather_of_unit(Rank<P>& rank, const CurrentOperation& current, bool experts) {
    using V = typename P::Value;
    const Sharding sharding = sharding_of(rank, experts);
    const std::size_t bucket = bucket_of(rank, current);
    const FlatRange range = range_of(rank, bucket, experts);
    std::vector<std::size_t> offsets = offsets_within(range, rank.communicator->size(sharding.shard_group));
    Weights<P>& w = rank.weights;
    V* begin = nullptr;
    if (experts ? w.sharded.experts : w.sharded.dense) {
        Buffer<V>& whole = experts ? w.units[bucket].experts : w.units[bucket].dense;
        whole = Buffer<V>(*rank.arena, schedule::MemoryLabel::kCommunication, range.size());
        begin = whole.data();
        const std::size_t own = offsets[sharding.shard_index], end = offsets[sharding.shard_index + 1];
        copy_values<V>(end - own,
                       (experts ? w.experts : w.dense).data() + shard_place(rank, experts, range.begin + own),
                       begin + own);
    } else {
        begin = (experts ? w.experts : w.dense).data() + range.begin;
    }
    return {schedule::CommKind::kAllGather, current.op.group, begin, 0, std::move(offsets), element_type<V>()};
}

/// By kGradientEpAllReduce, or over the ranks that shard it; that may still be under way.
template <class P>
bool has_been_summed(const Rank<P>& rank, const schedule::Operation& op) {
    const bool experts = op.kind == schedule::OpKind::kGradientReduceExperts;
    const bool over_replicas = op.group == models::GroupKind::kShardReplicas &&
                               rank.communicator->size(sharding_of(rank, experts).shard_group) > 1;
    return over_replicas || (op.kind == schedule::OpKind::kGradientReduceDense &&
                             rank.plan().optimizer == models::OptimizerSharding::kSharded &&
                             rank.communicator->size(models::GroupKind::kDenseDpInner) > 1);
}

}  // namespace

void StepCollective::run(Communicator& communicator) const {
    switch (comm) {
        case schedule::CommKind::kAllReduce: return communicator.all_reduce(group, data, count, type, ReduceOp::kSum);
        case schedule::CommKind::kReduceScatter: return communicator.reduce_scatter(group, data, offsets, type);
        default: return communicator.all_gather(group, data, offsets, type);
    }
}

std::unique_ptr<PendingCollective> StepCollective::begin(Communicator& communicator) const {
    switch (comm) {
        case schedule::CommKind::kAllReduce:
            return communicator.begin_all_reduce(group, data, count, type, ReduceOp::kSum);
        case schedule::CommKind::kReduceScatter: return communicator.begin_reduce_scatter(group, data, offsets, type);
        default: return communicator.begin_all_gather(group, data, offsets, type);
    }
}

template <class P>
std::size_t bucket_of(const Rank<P>& rank, const CurrentOperation& current) {
    const auto bucket = std::ranges::find_if(rank.buckets, [&](const ReductionBucket& one) {
        return one.chunk == current.block.chunk && one.last_unit == current.op.unit;
    });
    AUSPEX_CHECK(bucket != rank.buckets.end(), "sums and gathers in passes are those of buckets");
    return static_cast<std::size_t>(bucket - rank.buckets.begin());
}

template <class P>
FlatRange gradients_of(const Rank<P>& rank, const CurrentOperation& current, bool experts) {
    if (current.op.unit < 0) {
        const std::size_t updated = experts ? rank.table.experts_updated : rank.table.dense_updated,
                          all = experts ? rank.table.experts_size : rank.table.dense_size;
        return {current.op.chunk == 1 ? updated : 0, current.op.chunk == 0 ? updated : all};
    }
    return range_of(rank, bucket_of(rank, current), experts);
}

template <class P>
std::vector<StepCollective> step_collectives(Rank<P>& rank, const CurrentOperation& current) {
    const schedule::Operation& op = current.op;
    const bool experts =
        op.kind == schedule::OpKind::kGradientReduceExperts || op.kind == schedule::OpKind::kParameterGatherExperts;
    if (op.comm == schedule::CommKind::kAllGather) {
        return op.unit < 0 ? gathers_of(rank, op, experts) : std::vector{gather_of_unit(rank, current, experts)};
    }
    const FlatRange range = gradients_of(rank, current, experts);
    if (current.block.kind != schedule::BlockKind::kOptimizer && !has_been_summed(rank, op)) {
        using G = typename P::Gradient;
        check_contribution(rank, current, std::span<const G>(gradients_from(rank, experts, range.begin), range.size()));
    }
    return op.kind == schedule::OpKind::kGradientEpAllReduce ? sums_over_ep(rank, op, range)
                                                             : std::vector{sum_of(rank, op, experts, range)};
}

#define AUSPEX_INSTANTIATE(P)                                                          \
    template std::size_t bucket_of<P>(const Rank<P>&, const CurrentOperation&);        \
    template FlatRange gradients_of<P>(const Rank<P>&, const CurrentOperation&, bool); \
    template std::vector<StepCollective> step_collectives<P>(Rank<P>&, const CurrentOperation&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
