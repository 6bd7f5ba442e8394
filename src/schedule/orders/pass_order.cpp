/// @file Passes of stages that lie one behind the other in closed form; of others from the lists of their generators.
#include "schedule/orders/pass_order.hpp"

#include <algorithm>

#include "schedule/orders/auto_orders.hpp"
#include "schedule/orders/orders.hpp"
#include "schedule/orders/stage_places.hpp"

namespace auspex::schedule {
namespace {

std::vector<StagePass> generated(const models::Plan& plan, int stage) {
    using models::ScheduleKind;
    const int pp = plan.pp, m = plan.micro_batches;
    switch (plan.schedule) {
        case ScheduleKind::kZbH1: return zero_bubble_passes(stage, pp, m, 1);
        case ScheduleKind::kZbH2: return zero_bubble_passes(stage, pp, m, 2);
        case ScheduleKind::kZbAuto:
            return zb_auto_order(pp, m, plan.auto_order)->ranks[static_cast<std::size_t>(stage)];
        case ScheduleKind::kZbv: return zbv_passes(stage, pp, m);
        case ScheduleKind::kVHalf: return v_block_passes(stage, pp, m, {2, 1});
        case ScheduleKind::kVMin: return v_block_passes(stage, pp, m, {1, 1});
        case ScheduleKind::kDualPipeV: return dualpipev_passes(stage, pp, m);
        case ScheduleKind::kDualPipe: return dualpipe_passes(stage, pp, m);
        case ScheduleKind::kGpipe:
        case ScheduleKind::k1f1b:
        case ScheduleKind::kInterleaved1f1b: break;
    }
    return {};
}

}  // namespace

bool pairs_passes(const models::Plan& plan) {
    using models::ScheduleKind;
    const bool has_room = plan.schedule == ScheduleKind::kDualPipeV || plan.schedule == ScheduleKind::kDualPipe ||
                          plan.schedule == ScheduleKind::kInterleaved1f1b ||
                          (plan.schedule == ScheduleKind::k1f1b && plan.pp == 1);
    return has_room && plan.overlap_ep && plan.ep > 1;
}

PassOrder::PassOrder(const models::Plan& plan, int stage)
    : pp_(plan.pp),
      chunks_(plan.virtual_stages),
      passes_(plan.micro_batches * plan.virtual_stages),
      interleaved_(plan.schedule == models::ScheduleKind::kInterleaved1f1b),
      pairs_(pairs_passes(plan)) {
    if (splits_backward(plan.schedule)) {
        const bool are_twice = has_stages_twice(plan.schedule);
        for (const StagePass& pass : generated(plan, stage)) {
            const int chunk = are_twice ? (pass.stage == stage ? 0 : 1) : pass.stage / pp_;
            list_.push_back({pass.kind, chunk, pass.micro_batch, pass.beside_next && pairs_});
        }
        return;
    }
    const int warm_up =
        (interleaved_ ? 2 * (pp_ - 1 - stage) + (chunks_ - 1) * pp_ : pp_ - 1 - stage) + (pairs_ ? 1 : 0);
    ahead_ = plan.schedule == models::ScheduleKind::kGpipe ? passes_ : std::min(warm_up, passes_);
}

/// Forward or backward pass number i. Interleaved: groups of pp micro-batches walk chunk after chunk; backwards walk
/// the chunks from the last.
Pass PassOrder::pass(int i, PassKind kind) const {
    if (!interleaved_) {
        return {kind, 0, i};
    }
    const int group = pp_ * chunks_;
    const int chunk = i % group / pp_;
    return {kind, kind == PassKind::kForward ? chunk : chunks_ - 1 - chunk, i / group * pp_ + i % pp_};
}

Pass PassOrder::operator[](int i) const {
    if (!list_.empty()) {
        return list_[static_cast<std::size_t>(i)];
    }
    if (i < ahead_) {
        return pass(i, PassKind::kForward);
    }
    if (i >= size() - ahead_) {
        return pass(i - passes_, PassKind::kBackward);
    }
    const int pair = (i - ahead_) / 2;
    Pass one = (i - ahead_) % 2 == 0 ? pass(ahead_ + pair, PassKind::kForward) : pass(pair, PassKind::kBackward);
    one.beside_next = pairs_ && one.is_forward();
    return one;
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

PipelineOrder order_of_plan(const models::Plan& plan) {
    PipelineOrder order = empty_order(plan.pp, stages_of_model(plan), plan.micro_batches);
    for (int rank = 0; rank < plan.pp; ++rank) {
        for (const Pass& pass : pipeline_order(plan, rank)) {
            const int stage = part_of_model(plan, virtual_stage_of(plan, pass.chunk, rank));
            order.ranks[static_cast<std::size_t>(rank)].push_back(
                {pass.kind, stage, pass.micro_batch, pass.beside_next});
        }
    }
    return order;
}

}  // namespace auspex::schedule
