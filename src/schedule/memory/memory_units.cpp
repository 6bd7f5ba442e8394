/// @file Weights gathered for a pass, and gradients on their way into shards.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "schedule/memory/memory_walk.hpp"

namespace auspex::schedule {

void BlockWalk::begin_units(const Program& program, const Block& block) {
    if (block.kind == BlockKind::kOptimizer) {
        return;
    }
    const int last_unit = unit_of_head(chunk_.layers);
    const bool finds_last = chunk_.keeps_last_unit && is_backward(block.kind);
    last_reads_ = last_reads(program, block, chunk_.layers, chunk_.is_tied,
                             finds_last ? std::optional<int>(last_unit) : std::nullopt);
    if (finds_last) {
        gathered_[last_unit] = std::exchange(pass_.last_unit, {});
    } else if (chunk_.keeps_last_unit) {
        std::erase_if(last_reads_, [last_unit](const UnitEnds& end) { return end.unit == last_unit; });
    }
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
        const bool stays = chunk_.keeps_last_unit && op.unit == unit_of_head(chunk_.layers);
        tally_.make(stays ? pass_.last_unit : gathered_[op.unit], MemoryLabel::kCommunication,
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
    if (chunk_.gradients == 0) {
        return;
    }
    const auto leave = [&](const std::vector<UnitEnds>& ends, std::uint64_t BucketBytes::*shard) {
        for (const UnitEnds& end : ends) {
            if (end.operation == operation) {
                const auto bucket = std::ranges::find(chunk_.buckets, end.unit, &BucketBytes::unit);
                leave_gradients(bucket != chunk_.buckets.end() ? (*bucket).*shard : 0);
            }
        }
    };
    leave(last_dense_sums_, &BucketBytes::dense_shard);
    leave(last_expert_sums_, &BucketBytes::expert_shard);
}

void BlockWalk::leave_gradients(std::uint64_t bytes) {
    const std::uint64_t more = std::min(bytes, chunk_.gradients - gradients_left_);
    Tensors until_the_update;
    tally_.make(until_the_update, MemoryLabel::kGradients, more);
    gradients_left_ += more;
}

}  // namespace auspex::schedule
