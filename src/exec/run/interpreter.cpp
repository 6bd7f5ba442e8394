/// @file Walks the program of a step.
#include "exec/run/interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "exec/kernels/copies.hpp"
#include "exec/run/background.hpp"
#include "exec/run/expected_messages.hpp"
#include "exec/run/pass_units.hpp"
#include "exec/run/step_record.hpp"

namespace auspex::exec {
namespace {

using Clock = std::chrono::steady_clock;

std::string soft_failure_message(int step, const std::vector<int>& ranks) {
    if (ranks.empty()) {
        return "step " + std::to_string(step) + ": the sum of the ranks' gradients, or its norm, is not finite";
    }
    std::string list;
    for (const int rank : ranks) {
        list += (list.empty() ? " " : ", ") + std::to_string(rank);
    }
    return "step " + std::to_string(step) + ": loss or gradients are not finite, first on rank" +
           (ranks.size() > 1 ? "s" : "") + list;
}

template <class P>
void begin_step(Rank<P>& rank) {
    rank.loss = rank.total_loss = {};
    rank.gradient_norm = 0;
    rank.first_not_finite = kAllFinite;
    rank.unhealthy.clear();
    rank.counts.assign(static_cast<std::size_t>(schedule::OpKind::kCount), {});
    clear_values(rank.weights.dense_gradient.span());
    clear_values(rank.weights.experts_gradient.span());
}

template <class P>
void run_operation(Rank<P>& rank, const CurrentOperation& current) {
    const bool bound = run_prediction_operation(rank, current) || run_context_operation(rank, current) ||
                       run_latent_operation(rank, current) || run_attention_operation(rank, current) ||
                       run_feed_forward_operation(rank, current) || run_expert_operation(rank, current) ||
                       run_head_operation(rank, current) || run_tp_operation(rank, current) ||
                       run_message(rank, current) || run_host_copy(rank, current) || run_step_operation(rank, current);
    AUSPEX_CHECK(bound, "every operation of the program is bound");
}

/// All ranks know of a failure after the all-reduce of their flags, or of their parts of the norm; a rank alone after
/// its own check and norm.
template <class P>
void stop_if_unhealthy(const Rank<P>& rank, const schedule::Operation& op) {
    const bool alone = rank.run->layout.tiles == 1;
    const bool knows_ranks =
        (op.kind == schedule::OpKind::kWorldAllReduce && op.carries == schedule::Carries::kHealth) ||
        (op.kind == schedule::OpKind::kGradientCheck && alone);
    const bool knows_norm =
        op.kind == schedule::OpKind::kGradientNormAllReduce || (op.kind == schedule::OpKind::kGradientNorm && alone);
    if ((knows_ranks && !rank.unhealthy.empty()) || (knows_norm && !std::isfinite(rank.gradient_norm))) {
        throw SoftFailure(rank.step, rank.unhealthy);
    }
}

template <class P>
CurrentOperation operation_of(const Rank<P>& rank, const schedule::Operation& op, const schedule::Block& block,
                              const schedule::BlockUse& use) {
    CurrentOperation current{op, block, use.micro_batch, -1, {}, false};
    if (block.kind != schedule::BlockKind::kOptimizer) {
        const models::Plan& plan = rank.plan();
        current.virtual_stage = schedule::virtual_stage_of(plan, block.chunk, rank.coordinates.stage);
        current.layers = schedule::layers_of(rank.workload(), plan, current.virtual_stage);
        current.has_head = schedule::is_last_part(plan, current.virtual_stage);
    }
    return current;
}

template <class P>
void begin_pass(Rank<P>& rank, const schedule::Block& block, const schedule::BlockUse& use) {
    const int virtual_stage = schedule::virtual_stage_of(rank.plan(), block.chunk, rank.coordinates.stage);
    const schedule::LayerRange layers = schedule::layers_of(rank.workload(), rank.plan(), virtual_stage);
    PassTensors<P>& pass = rank.passes[{block.chunk, use.micro_batch}];
    pass.attention.resize(static_cast<std::size_t>(layers.last - layers.first));
    pass.feed_forward.resize(pass.attention.size());
    pass.heads.resize(1 + static_cast<std::size_t>(layers.predictions));
    pass.predictions.resize(static_cast<std::size_t>(layers.predictions));
}

/// Waits for what the operation depends on, then runs it, or begins it where it runs beside what follows.
template <class P>
void play(Rank<P>& rank, const CurrentOperation& current, PassUnits<P>& units, StepRecord<P>& record,
          BackgroundOperations<P>& background) {
    background.wait_for(current.op);
    if (schedule::runs_beside(rank.run->program, current.op)) {
        background.begin(current);
    } else {
        const Clock::time_point start = Clock::now();
        units.before(current);
        record.count(current.op, false, [&] { run_operation(rank, current); });
        units.after(current);
        record.add_span(current, start, Clock::now());
    }
    background.advance();
}

/// What a stage's next chunk, or the one before, takes over on the same rank, without a message; router logits, or
/// their gradients, in the buffer that they are in.
template <class P>
void hand_over(Rank<P>& rank, const schedule::Block& block, const schedule::BlockUse& use) {
    const models::Plan& plan = rank.plan();
    const int v = schedule::virtual_stage_of(plan, block.chunk, rank.coordinates.stage);
    const bool forward = block.kind == schedule::BlockKind::kForward;
    if (forward && !schedule::is_last_part(plan, v) && schedule::is_local_boundary(plan, v)) {
        PassTensors<P>& next = rank.passes[{block.chunk + 1, use.micro_batch}];
        next.attention.resize(1);
        next.attention.front().input = std::move(rank.running.x);
        next.router_logits = std::move(rank.passes.at({block.chunk, use.micro_batch}).router_logits);
    } else if (!forward && !schedule::is_first_part(plan, v) && schedule::is_local_boundary(plan, v - 1)) {
        PassTensors<P>& before = rank.passes.at({block.chunk - 1, use.micro_batch});
        before.gradient = std::move(rank.running.g);
        before.router_logits = std::move(rank.passes.at({block.chunk, use.micro_batch}).router_logits);
    }
}

/// Operations release what they do not leave for others: nothing may be left for the end of a block to release.
template <class P>
void end_block(Rank<P>& rank, const schedule::Block& block, const schedule::BlockUse& use) {
    using schedule::BlockKind;
    const std::size_t live = rank.arena->live_bytes();
    if (block.kind != BlockKind::kOptimizer && block.kind != BlockKind::kBackwardWeight) {
        hand_over(rank, block, use);
    }
    rank.running = {};
    if (block.kind == BlockKind::kBackward || block.kind == BlockKind::kBackwardWeight) {
        rank.passes.erase({block.chunk, use.micro_batch});
    }
    AUSPEX_CHECK(rank.arena->live_bytes() == live, "a pass ends with all of its tensors released");
}

}  // namespace

SoftFailure::SoftFailure(int failed_step, std::vector<int> failed_ranks)
    : std::runtime_error(soft_failure_message(failed_step, failed_ranks)),
      step(failed_step),
      ranks(std::move(failed_ranks)) {}

schedule::Timeline empty_rank_timeline(int rank) {
    schedule::Timeline timeline;
    for (std::size_t stream = 0; stream < schedule::kStreamCount; ++stream) {
        timeline.tracks.push_back({"rank " + std::to_string(rank), to_string(static_cast<schedule::Stream>(stream))});
    }
    for (std::size_t i = 0; i < schedule::kOperationNames; ++i) {
        timeline.names.push_back(schedule::operation_name(i));
    }
    return timeline;
}

template <class P>
void run_step(Rank<P>& rank, schedule::Timeline* timeline, Clock::time_point epoch) {
    begin_step(rank);
    StepRecord<P> record(rank, timeline, epoch);
    BackgroundOperations<P> background(rank, record);
    ExpectedMessages<P> expected(rank);
    const schedule::Program& program = rank.run->program;
    for (const schedule::BlockUse& use : program.roles[static_cast<std::size_t>(rank.coordinates.stage)].order) {
        const schedule::Block& block = program.blocks[use.block];
        if (block.kind == schedule::BlockKind::kForward) {
            begin_pass(rank, block, use);
        } else if (block.kind != schedule::BlockKind::kOptimizer) {
            PassTensors<P>& pass = rank.passes.at({block.chunk, use.micro_batch});
            rank.running.g = std::move(pass.gradient);
            rank.running.head = pass.predictions.size();
        }
        background.begin_block(block);
        PassUnits<P> units(rank, block);
        for (const schedule::Operation& op : program.operations_of(block)) {
            play(rank, operation_of(rank, op, block, use), units, record, background);
            expected.after(op);
            if (rank.after_operation) {
                rank.after_operation(op);
            }
            stop_if_unhealthy(rank, op);
        }
        end_block(rank, block, use);
    }
    AUSPEX_CHECK(rank.passes.empty(), "every forward pass has had its backward pass");
    AUSPEX_CHECK(background.empty(), "a step ends with all of its communication ended");
}

template void run_step<Fp32>(Rank<Fp32>&, schedule::Timeline*, Clock::time_point);
template void run_step<Fp64>(Rank<Fp64>&, schedule::Timeline*, Clock::time_point);
template void run_step<Bf16Precision>(Rank<Bf16Precision>&, schedule::Timeline*, Clock::time_point);
template void run_step<Bf16WithFp32Gradients>(Rank<Bf16WithFp32Gradients>&, schedule::Timeline*, Clock::time_point);

}  // namespace auspex::exec
