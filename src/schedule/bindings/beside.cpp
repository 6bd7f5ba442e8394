/// @file Dependencies of operations on communications under way.
#include "schedule/bindings/beside.hpp"

#include <algorithm>

namespace auspex::schedule {

bool runs_beside(const Program& program, const Operation& op) {
    switch (op.kind) {
        case OpKind::kGradientEpAllReduce:
        case OpKind::kGradientReduceExperts:
        case OpKind::kGradientReduceDense:
        case OpKind::kParameterGatherExperts:
        case OpKind::kParameterGatherDense: return program.overlap_dp;
        default: return false;
    }
}

std::size_t BesideQueue::ahead_of(const Program& program, const Operation& op) const {
    const bool joins = (op.joins >> static_cast<unsigned>(Stream::kDp) & 1U) != 0;
    if (joins || (op.stream == Stream::kDp && !runs_beside(program, op))) {
        return queue_.size();
    }
    const std::span<const std::uint32_t> inputs = program.dependencies_of(op);
    const auto last = std::find_if(queue_.rbegin(), queue_.rend(), [&](const Begun& begun) {
        return begun.use == use_ && std::ranges::find(inputs, begun.operation - first_) != inputs.end();
    });
    return static_cast<std::size_t>(queue_.rend() - last);
}

}  // namespace auspex::schedule
