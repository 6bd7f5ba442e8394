/// @file Which ranges of which array go over which group.
#include "exec/operations/step_collectives.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "exec/operations/health.hpp"
#include "exec/operations/operations.hpp"
#include "exec/state/optimizer.hpp"

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

template <class P>
StepCollective sum_of(Rank<P>& rank, const schedule::Operation& op, bool experts, FlatRange range) {
    using G = typename P::Gradient;
    const Sharding sharding = sharding_of(rank, experts);
    if (!sharding.is_sharded) {
        return all_reduce_of(rank, op, experts, range);
    }
    Buffer<G>& gradients = experts ? rank.weights.experts_gradient : rank.weights.dense_gradient;
    return {schedule::CommKind::kReduceScatter,
            op.group,
            gradients.data(),
            0,
            shard_offsets(range, rank.communicator->size(sharding.shard_group)),
            element_type<G>()};
}

template <class P>
std::vector<StepCollective> gathers_of(Rank<P>& rank, const schedule::Operation& op, bool experts) {
    using V = typename P::Value;
    Buffer<V>& weights = experts ? rank.weights.experts : rank.weights.dense;
    std::vector<StepCollective> list;
    for (std::vector<std::size_t>& offsets : sharding_of(rank, experts).parts) {
        list.push_back(
            {schedule::CommKind::kAllGather, op.group, weights.data(), 0, std::move(offsets), element_type<V>()});
    }
    return list;
}

/// By kGradientEpAllReduce, which may still be under way.
template <class P>
bool has_been_summed(const Rank<P>& rank, const schedule::Operation& op) {
    return op.kind == schedule::OpKind::kGradientReduceDense &&
           rank.plan().optimizer == models::OptimizerSharding::kSharded &&
           rank.communicator->size(models::GroupKind::kDenseDpInner) > 1;
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
FlatRange gradients_of(const Rank<P>& rank, const CurrentOperation& current, bool experts) {
    if (current.op.unit < 0) {
        return {0, experts ? rank.table.experts_size : rank.table.dense_size};
    }
    const auto bucket = std::ranges::find_if(rank.buckets, [&](const ReductionBucket& one) {
        return one.chunk == current.block.chunk && one.last_unit == current.op.unit;
    });
    AUSPEX_CHECK(bucket != rank.buckets.end(), "a sum of gradients is that of a bucket");
    return experts ? bucket->experts : bucket->dense;
}

template <class P>
std::vector<StepCollective> step_collectives(Rank<P>& rank, const CurrentOperation& current) {
    const schedule::Operation& op = current.op;
    const bool experts =
        op.kind == schedule::OpKind::kGradientReduceExperts || op.kind == schedule::OpKind::kParameterGatherExperts;
    if (op.comm == schedule::CommKind::kAllGather) {
        return gathers_of(rank, op, experts);
    }
    const FlatRange range = gradients_of(rank, current, experts);
    if (current.block.kind != schedule::BlockKind::kOptimizer && !has_been_summed(rank, op)) {
        const auto& gradients = experts ? rank.weights.experts_gradient : rank.weights.dense_gradient;
        check_contribution(rank, current, std::as_const(gradients).span().subspan(range.begin, range.size()));
    }
    return op.kind == schedule::OpKind::kGradientEpAllReduce ? sums_over_ep(rank, op, range)
                                                             : std::vector{sum_of(rank, op, experts, range)};
}

#define AUSPEX_INSTANTIATE(P)                                                          \
    template FlatRange gradients_of<P>(const Rank<P>&, const CurrentOperation&, bool); \
    template std::vector<StepCollective> step_collectives<P>(Rank<P>&, const CurrentOperation&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
