/// @file The order of passes in a pipeline stage: gpipe, 1f1b, interleaved-1f1b.
#include <algorithm>
#include <numeric>

#include "schedule/program/program.hpp"

namespace auspex::schedule {

PassOrder::PassOrder(const models::Plan& plan, int stage)
    : pp_(plan.pp),
      chunks_(plan.virtual_stages),
      passes_(plan.micro_batches * plan.virtual_stages),
      interleaved_(plan.schedule == models::ScheduleKind::kInterleaved1f1b) {
    const int warm_up = interleaved_ ? 2 * (pp_ - 1 - stage) + (chunks_ - 1) * pp_ : pp_ - 1 - stage;
    ahead_ = plan.schedule == models::ScheduleKind::kGpipe ? passes_ : std::min(warm_up, passes_);
}

/// Forward or backward pass number i. Interleaved: groups of pp micro-batches walk chunk after chunk; backwards walk
/// the chunks from the last.
Pass PassOrder::pass(int i, bool backward) const {
    if (!interleaved_) {
        return {backward, 0, i};
    }
    const int group = pp_ * chunks_;
    const int chunk = i % group / pp_;
    return {backward, backward ? chunks_ - 1 - chunk : chunk, i / group * pp_ + i % pp_};
}

Pass PassOrder::operator[](int i) const {
    if (i < ahead_) {
        return pass(i, false);
    }
    if (i >= size() - ahead_) {
        return pass(i - passes_, true);
    }
    const int pair = (i - ahead_) / 2;
    return (i - ahead_) % 2 == 0 ? pass(ahead_ + pair, false) : pass(pair, true);
}

std::vector<Pass> pipeline_order(const models::Plan& plan, int stage) {
    const PassOrder order(plan, stage);
    std::vector<Pass> passes;
    passes.reserve(static_cast<std::size_t>(order.size()));
    for (int i = 0; i < order.size(); ++i) {
        passes.push_back(order[i]);
    }
    return passes;
}

LayerRange layers_of(const models::Workload& workload, const models::Plan& plan, int virtual_stage) {
    if (!plan.stage_layers.empty()) {
        const auto begin = plan.stage_layers.begin();
        const int before = std::accumulate(begin, begin + virtual_stage, 0);
        return {before, before + begin[virtual_stage]};
    }
    const int stages = plan.pp * plan.virtual_stages;
    const int each = workload.layers / stages, extra = workload.layers % stages;
    const int first = virtual_stage * each + std::min(virtual_stage, extra);
    return {first, first + each + (virtual_stage < extra ? 1 : 0)};
}

}  // namespace auspex::schedule
