/// @file Made, added, released.
#include "exec/run/pass_units.hpp"

#include <algorithm>

#include "exec/kernels/copies.hpp"
#include "exec/kernels/elementwise.hpp"
#include "exec/state/unit_arrays.hpp"

namespace auspex::exec {

template <class P>
PassUnits<P>::PassUnits(Rank<P>& rank, const schedule::Block& block)
    : rank_(rank), block_(block), is_split_(splits_backward(rank.plan().schedule)) {
    const models::Plan& plan = rank.plan();
    if (block.kind == schedule::BlockKind::kOptimizer || !shards_gradients(plan.optimizer)) {
        return;
    }
    const schedule::Program& program = rank.run->program;
    if (schedule::shards_weights(plan)) {
        const int v = schedule::virtual_stage_of(plan, block.chunk, rank.coordinates.stage);
        last_reads_ = schedule::last_reads(program, block, schedule::layers_of(rank.workload(), plan, v),
                                           schedule::has_one_table(rank.workload(), plan));
    }
    last_dense_sums_ = schedule::last_sums(program, block, false);
    last_expert_sums_ = schedule::last_sums(program, block, true);
}

template <class P>
UnitTensors<P>& PassUnits<P>::tensors_of(int unit, std::size_t& bucket) {
    const auto found = std::ranges::find_if(
        rank_.buckets, [&](const ReductionBucket& one) { return one.chunk == block_.chunk && one.last_unit == unit; });
    AUSPEX_CHECK(found != rank_.buckets.end(), "sums and gathers in passes are those of buckets");
    bucket = static_cast<std::size_t>(found - rank_.buckets.begin());
    return rank_.weights.units[bucket];
}

template <class P>
void PassUnits<P>::before(const CurrentOperation& current) {
    if (current.op.comm != schedule::CommKind::kNone || current.op.unit < 0) {
        return;
    }
    using G = typename P::Gradient;
    std::size_t bucket = 0;
    UnitTensors<P>& unit = tensors_of(current.op.unit, bucket);
    const auto make = [&](bool is_summed, FlatRange range, Buffer<G>& gradient) {
        if (is_summed) {
            gradient = Buffer<G>(*rank_.arena, schedule::MemoryLabel::kCommunication, range.size());
            clear_values(gradient.span());
        }
    };
    const ReductionBucket& of = rank_.buckets[bucket];
    make(of.sums_dense, of.dense, unit.dense_gradient);
    make(of.sums_experts, of.experts, unit.experts_gradient);
}

template <class P>
void PassUnits<P>::after(const CurrentOperation& current) {
    const auto operation =
        static_cast<std::uint32_t>(rank_.run->program.index_of(current.op) - std::size_t{block_.op_begin});
    const auto for_each_end = [&](const std::vector<schedule::UnitEnds>& ends, const auto& end) {
        for (const schedule::UnitEnds& one : ends) {
            if (one.operation == operation) {
                end(one.unit);
            }
        }
    };
    for_each_end(last_dense_sums_, [&](int unit) { end_sum(unit, false); });
    for_each_end(last_expert_sums_, [&](int unit) { end_sum(unit, true); });
    for_each_end(last_reads_, [&](int unit) {
        std::size_t bucket = 0;
        UnitTensors<P>& tensors = tensors_of(unit, bucket);
        tensors.dense.reset(), tensors.experts.reset();
    });
}

template <class P>
void PassUnits<P>::end_sum(int unit, bool experts) {
    using G = typename P::Gradient;
    std::size_t bucket = 0;
    UnitTensors<P>& tensors = tensors_of(unit, bucket);
    Buffer<G>& sum = experts ? tensors.experts_gradient : tensors.dense_gradient;
    Buffer<G>& all = experts ? rank_.weights.experts_gradient : rank_.weights.dense_gradient;
    const FlatRange range = range_of(rank_, bucket, experts);
    const Sharding sharding = sharding_of(rank_, experts);
    const std::vector<std::size_t> offsets =
        shard_offsets({0, range.size()}, rank_.communicator->size(sharding.shard_group));
    const std::size_t own = offsets[sharding.shard_index], count = offsets[sharding.shard_index + 1] - own;
    G* const to = all.data() + shard_place(rank_, experts, range.begin + own);
    add<G>(count, to, sum.data() + own, to);
    is_split_ ? clear_values(sum.span()) : sum.reset();
}

template class PassUnits<Fp32>;
template class PassUnits<Fp64>;
template class PassUnits<Bf16Precision>;
template class PassUnits<Bf16WithFp32Gradients>;

}  // namespace auspex::exec
