/// @file The order of passes in a pipeline stage: gpipe, 1f1b, interleaved-1f1b.
#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

std::vector<Pass> gpipe(int micro_batches) {
    std::vector<Pass> order;
    for (int backward = 0; backward < 2; ++backward) {
        for (int m = 0; m < micro_batches; ++m) {
            order.push_back({backward == 1, 0, m});
        }
    }
    return order;
}

/// Forward and backward number i of an interleaved schedule: groups of pp micro-batches walk chunk after chunk;
/// backwards walk the chunks from the last.
Pass interleaved_pass(const models::Plan& plan, int i, bool backward) {
    const int group = plan.pp * plan.virtual_stages;
    const int chunk = i % group / plan.pp;
    return {backward, backward ? plan.virtual_stages - 1 - chunk : chunk, i / group * plan.pp + i % plan.pp};
}

}  // namespace

std::vector<Pass> pipeline_order(const models::Plan& plan, int stage) {
    if (plan.schedule == models::ScheduleKind::kGpipe) {
        return gpipe(plan.micro_batches);
    }
    const bool interleaved = plan.schedule == models::ScheduleKind::kInterleaved1f1b;
    const int passes = plan.micro_batches * plan.virtual_stages;
    const int warm_up =
        interleaved ? 2 * (plan.pp - 1 - stage) + (plan.virtual_stages - 1) * plan.pp : plan.pp - 1 - stage;
    const int ahead = std::min(warm_up, passes);
    const auto pass = [&](int i, bool backward) {
        return interleaved ? interleaved_pass(plan, i, backward) : Pass{backward, 0, i};
    };
    std::vector<Pass> order;
    order.reserve(static_cast<std::size_t>(2 * passes));
    for (int i = 0; i < ahead; ++i) {
        order.push_back(pass(i, false));
    }
    for (int i = ahead; i < passes; ++i) {
        order.push_back(pass(i, false));
        order.push_back(pass(i - ahead, true));
    }
    for (int i = passes - ahead; i < passes; ++i) {
        order.push_back(pass(i, true));
    }
    return order;
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
