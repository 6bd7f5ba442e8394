/// @file Weights gathered for a pass, and gradients on their way into shards.
#include <algorithm>
#include <cmath>

#include "schedule/memory/memory_walk.hpp"

namespace auspex::schedule {

void BlockWalk::begin_units(const Program& program, const Block& block) {
    if (block.kind == BlockKind::kOptimizer) {
        return;
    }
    last_reads_ = last_reads(program, block, chunk_.layers, chunk_.is_tied);
    if (!chunk_.buckets.empty() && block.kind == BlockKind::kBackward) {
        last_dense_sums_ = last_sums(program, block, false);
        last_expert_sums_ = last_sums(program, block, true);
    }
}

void BlockWalk::make_units(const Operation& op) {
    if (op.unit < 0) {
        return;
    }
    const bool gathers = op.kind == OpKind::kParameterGatherDense || op.kind == OpKind::kParameterGatherExperts;
    if (gathers && chunk_.shards_weights) {
        tally_.make(gathered_[op.unit], MemoryLabel::kCommunication,
                    static_cast<std::uint64_t>(std::llround(op.bytes)));
    }
    const auto bucket = std::ranges::find(chunk_.buckets, int{op.unit}, &BucketBytes::unit);
    if (op.comm == CommKind::kNone && bucket != chunk_.buckets.end()) {
        tally_.make(dense_sums_[op.unit], MemoryLabel::kCommunication, bucket->dense);
        tally_.make(expert_sums_[op.unit], MemoryLabel::kCommunication, bucket->experts);
    }
}

void BlockWalk::release_units(std::uint32_t operation) {
    const auto release = [&](const std::vector<UnitEnds>& ends, std::map<int, Tensors>& tensors) {
        for (const UnitEnds& end : ends) {
            if (end.operation == operation) {
                tally_.release(tensors[end.unit]);
            }
        }
    };
    release(last_reads_, gathered_);
    release(last_dense_sums_, dense_sums_);
    release(last_expert_sums_, expert_sums_);
}

}  // namespace auspex::schedule
