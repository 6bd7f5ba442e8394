/// @file (workload, plan, stack) -> program: the blocks of every virtual stage, and the order in which each role runs
/// them.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "models/overlap.hpp"
#include "schedule/program/block_builder.hpp"
#include "schedule/program/gradient_buckets.hpp"
#include "schedule/program/unit_gathers.hpp"

namespace auspex::schedule {
namespace {

void check_overlap(const models::Plan& plan, const models::Stack& stack) {
    std::string possible;
    for (const models::OverlapStream& stream : models::kOverlapStreams) {
        possible += stack.*stream.can ? std::string(possible.empty() ? "" : " ") + stream.word : "";
    }
    for (const models::OverlapStream& stream : models::kOverlapStreams) {
        if (plan.*stream.is_wanted && !(stack.*stream.can)) {
            throw InputError(plan.file + ": $.overlap",
                             std::string("found \"") + stream.word + "\"; stack " + stack.name +
                                 " can overlap: " + (possible.empty() ? "nothing" : possible));
        }
    }
}

/// Builds the blocks of one virtual stage.
class StageBuilder {
 public:
    StageBuilder(BlockBuilder& builder, const models::Layout& layout)
        : b_(builder), s_(builder.shapes()), layout_(layout) {}

    /// Every kind of block of a stage, but for forward passes that gather updated weights.
    Role each_block(int stage) {
        const bool overlapped = reduces_buckets(s_.plan, s_.stack);
        Role role{stage, {}};
        for (int chunk = 0; chunk < s_.plan.virtual_stages; ++chunk) {
            const auto add = [&](PassKind kind, bool last) {
                role.order.push_back({build(kind, chunk, virtual_stage_of(s_.plan, chunk, stage), last), 0});
            };
            add(PassKind::kForward, false);
            add(PassKind::kBackward, false);
            if (overlapped) {
                add(PassKind::kBackward, true);
            }
            if (splits_backward(s_.plan.schedule)) {
                add(PassKind::kBackwardInput, false);
                add(PassKind::kBackwardWeight, false);
                if (overlapped) {
                    add(PassKind::kBackwardWeight, true);
                }
            }
        }
        role.order.push_back({build_optimizer_block(b_, layout_, stage, sums_in_passes(s_.plan, s_.stack)), -1});
        return role;
    }

    /// All blocks of a stage, and their order.
    Role role(int stage) {
        const bool overlapped = reduces_buckets(s_.plan, s_.stack);
        const bool gathers = gathers_updated(s_.plan, s_.stack);
        Role role;
        role.stage = stage;
        constexpr std::uint32_t kNotBuilt = ~0U;
        constexpr std::size_t kKinds = 4;
        std::vector<std::array<std::uint32_t, 2 * kKinds>> known(static_cast<std::size_t>(s_.plan.virtual_stages));
        for (auto& blocks : known) {
            blocks.fill(kNotBuilt);
        }
        std::vector<int> left;
        for (int chunk = 0; chunk < s_.plan.virtual_stages; ++chunk) {
            left.push_back(micro_batches_of(s_.plan, chunk).count());
        }
        for (const Pass& pass : pipeline_order(s_.plan, stage)) {
            const auto chunk = static_cast<std::size_t>(pass.chunk), kind = static_cast<std::size_t>(pass.kind);
            const bool completes = pass.kind == PassKind::kBackward || pass.kind == PassKind::kBackwardWeight;
            const bool is_last = completes && --left[chunk] == 0;
            const bool is_first = pass.kind == PassKind::kForward && known[chunk][kind + kKinds] == kNotBuilt;
            const bool exchanges = (is_last && overlapped) || (is_first && gathers);
            std::uint32_t& block = known[chunk][kind + (exchanges ? kKinds : 0)];
            if (block == kNotBuilt) {
                block = build(pass.kind, pass.chunk, virtual_stage_of(s_.plan, pass.chunk, stage), exchanges);
            }
            role.order.push_back({block, pass.micro_batch, pass.beside_next});
        }
        role.order.push_back({build_optimizer_block(b_, layout_, stage, sums_in_passes(s_.plan, s_.stack)), -1});
        return role;
    }

 private:
    /// `exchanges`: a forward pass gathers updated weights, one that completes gradients sums them.
    std::uint32_t build(PassKind kind, int chunk, int v, bool exchanges) {
        switch (kind) {
            case PassKind::kForward: return forward(chunk, v, exchanges);
            case PassKind::kBackward: return backward(BlockKind::kBackward, chunk, v, exchanges);
            case PassKind::kBackwardInput: return backward(BlockKind::kBackwardInput, chunk, v, exchanges);
            case PassKind::kBackwardWeight: break;
        }
        return weights(chunk, v, exchanges);
    }

    /// A frozen copy's pass over the same micro-batch, of which nothing is kept.
    Value reference_forward(int v, Value x) {
        b_.set(Phase::kReference, -1);
        x = is_first_part(s_.plan, v) ? embed(b_) : x;
        const LayerRange range = layers_of(s_.workload, s_.plan, v);
        for (int layer = range.first; layer < range.last; ++layer) {
            b_.set(Phase::kReference, layer);
            x = feed_forward_forward(b_, layer, attention_forward(b_, x));
        }
        b_.set(Phase::kReference, -1);
        return is_last_part(s_.plan, v) ? head_forward(b_, x) : x;
    }

    [[nodiscard]] std::vector<GatheredUnit> gathered_in_forward(int v, bool exchanges) const {
        if (!exchanges && !gathers_in_passes(s_.plan)) {
            return {};
        }
        std::vector<GatheredUnit> units = forward_units(s_.workload, s_.plan, v);
        return exchanges
                   ? in_buckets(units, s_.stack.bucket_bytes, group_size(layout_, shard_groups(s_.plan, false).shard))
                   : units;
    }

    std::uint32_t forward(int chunk, int v, bool exchanges) {
        b_.begin(BlockKind::kForward, chunk, false);
        b_.set(Phase::kForward, -1);
        UnitGathers gathers(b_, layout_, gathered_in_forward(v, exchanges));
        if (exchanges) {
            gathers.all_at_once();
        }
        const bool receives = !is_first_part(s_.plan, v) && !is_local_boundary(s_.plan, v - 1);
        const bool has_reference = s_.workload.objective == models::Objective::kDpo;
        Value received = kNoValue;
        if (has_reference) {
            received = receives ? receive(OpKind::kReceiveForward, v - 1) : kNoValue;
            reference_forward(v, received);
            b_.set(Phase::kForward, -1);
        }
        Value x = kNoValue;
        if (is_first_part(s_.plan, v)) {
            gathers.before_next(kNoValue);
            x = embed(b_);
        } else if (receives) {
            x = has_reference ? received : receive(OpKind::kReceiveForward, v - 1);
        }
        const LayerRange range = layers_of(s_.workload, s_.plan, v);
        HostCopies copies(b_, range);
        for (int layer = range.first; layer < range.last; ++layer) {
            copies.before_forward(layer);
            if (range.predicts(layer)) {
                if (layer == range.last - range.predictions) {
                    gathers.before_next(x);
                }
                b_.set(Phase::kForward, -1);
                head_forward(b_, x);
            }
            gathers.before_next(x);
            set_layer(Phase::kForward, layer, range);
            if (range.predicts(layer)) {
                x = prediction_forward(b_, x);
            }
            x = shift_windows(b_, layer, x);
            x = attention_forward(b_, x);
            x = feed_forward_forward(b_, layer, x);
            copies.behind_forward(layer);
        }
        b_.set(Phase::kForward, -1);
        if (is_last_part(s_.plan, v)) {
            if (range.predictions == 0) {
                gathers.before_next(x);
            }
            x = head_forward(b_, x);
        }
        finish_pass();
        if (!is_last_part(s_.plan, v) && !is_local_boundary(s_.plan, v)) {
            StageMessage message = stage_message(s_.workload, s_.plan, s_.stack, v);
            message.activations.elements *= has_reference ? 2 : 1;
            b_.send(OpKind::kSendForward, v, message, x);
        }
        copies.end_forward();
        return b_.end();
    }

    /// With the gradients of weights, or without those that can wait.
    std::uint32_t backward(BlockKind kind, int chunk, int v, bool last_micro_batch) {
        b_.begin(kind, chunk, last_micro_batch);
        b_.set(Phase::kBackwardInput, -1);
        set_buckets(v, last_micro_batch);
        Value g = kNoValue;
        const LayerRange range = layers_of(s_.workload, s_.plan, v);
        UnitGathers gathers(b_, layout_, backward_units(s_.workload, s_.plan, s_.stack, v));
        HostCopies copies(b_, range);
        copies.begin_backward();
        if (is_last_part(s_.plan, v)) {
            gathers.before_next(kNoValue);
            g = head_backward(b_, kNoValue);
            if (range.predictions == 0) {
                reduce(unit_of_head(range));
            }
        } else if (!is_local_boundary(s_.plan, v)) {
            g = receive(OpKind::kReceiveBackward, v);
        }
        for (int layer = range.last - 1; layer >= range.first; --layer) {
            copies.before_backward(layer);
            gathers.before_next(g);
            set_layer(Phase::kBackwardInput, layer, range);
            g = feed_forward_backward(b_, layer, g);
            g = attention_backward(b_, g);
            g = shift_windows(b_, layer, g);
            if (range.predicts(layer)) {
                g = prediction_backward(b_, g);
                reduce(unit_of_layer(range, layer));
                b_.set(Phase::kBackwardInput, -1);
                g = head_backward(b_, g);
            }
            reduce_behind(range, layer);
        }
        if (is_first_part(s_.plan, v) && s_.plan.sequence_parallel) {
            g = b_.communicate(OpKind::kTpAllGather, Stream::kTp, CommKind::kAllGather, models::GroupKind::kTp,
                               s_.plan.tp, {{s_.t * s_.h}}, {g});
        }
        b_.set(Phase::kBackwardWeight, -1);
        if (is_first_part(s_.plan, v)) {
            embedding_backward(b_, g);
            reduce(unit_of_embedding(range));
        }
        b_.set(Phase::kBackwardInput, -1);
        mark_buckets(v);
        finish_pass();
        if (!is_first_part(s_.plan, v) && !is_local_boundary(s_.plan, v - 1)) {
            b_.send(OpKind::kSendBackward, v - 1, stage_message(s_.workload, s_.plan, s_.stack, v - 1), g);
        }
        return b_.end();
    }

    /// The gradients of weights that have waited, in the order in which a whole backward pass makes them.
    std::uint32_t weights(int chunk, int v, bool last_micro_batch) {
        b_.begin(BlockKind::kBackwardWeight, chunk, last_micro_batch);
        b_.set(Phase::kBackwardWeight, -1);
        set_buckets(v, last_micro_batch);
        const LayerRange range = layers_of(s_.workload, s_.plan, v);
        if (range.predictions == 0) {
            reduce(unit_of_head(range));
        }
        for (int layer = range.last - 1; layer >= range.first; --layer) {
            set_layer(Phase::kBackwardInput, layer, range);
            feed_forward_backward(b_, layer, kNoValue);
            attention_backward(b_, kNoValue);
            if (range.predicts(layer)) {
                prediction_backward(b_, kNoValue);
            }
            b_.set(Phase::kBackwardWeight, layer);
            if (range.predicts(layer)) {
                reduce(unit_of_layer(range, layer));
            }
            reduce_behind(range, layer);
        }
        b_.set(Phase::kBackwardWeight, -1);
        reduce(unit_of_embedding(range));
        if (waits_for_issue()) {
            b_.host(OpKind::kHostIssue, 0);
        }
        return b_.end();
    }

    /// What has come over a boundary, whole.
    Value receive(OpKind kind, int boundary) {
        const Value message = b_.receive(kind, boundary);
        const int ranks = scatters_messages(s_.plan, s_.stack) ? s_.plan.tp : 1;
        const bool has_two = kind == OpKind::kReceiveForward && s_.workload.objective == models::Objective::kDpo;
        return b_.communicate(OpKind::kMessageGather, Stream::kTp, CommKind::kAllGather, models::GroupKind::kTp, ranks,
                              {{(has_two ? 2 : 1) * s_.t * s_.h}}, {message});
    }

    void set_layer(Phase phase, int layer, LayerRange range) {
        b_.set(phase, layer);
        b_.set_recompute(recompute_of(s_.plan, layer - range.first));
    }

    [[nodiscard]] bool waits_for_issue() const {
        const models::Stack& stack = s_.stack;
        return stack.issue_s > 0 || stack.plain_issue_s > 0 || stack.collective_issue_s > 0 ||
               stack.collective_check_s > 0;
    }

    void finish_pass() {
        if (waits_for_issue()) {
            b_.host(OpKind::kHostIssue, 0);
        }
        if (s_.stack.sync_after_pass) {
            b_.host(OpKind::kHostSync, s_.stack.host_sync_s);
        }
    }

    /// Gradients summed while the pass that completes them goes on: where they are sharded after every micro-batch,
    /// with bucketed overlap after the last, as buckets fill.
    void set_buckets(int v, bool last_micro_batch) {
        const bool completes =
            b_.block() != BlockKind::kBackwardInput && (shards_gradients(s_.plan.optimizer) || last_micro_batch);
        buckets_ = completes ? gradient_buckets(s_.workload, s_.plan, s_.stack, v) : std::vector<GradientBucket>{};
    }
    /// After the unit's gradients are complete: the bucket that it fills.
    void reduce(int unit) {
        for (const GradientBucket& bucket : buckets_) {
            if (bucket.last == unit + 1) {
                emit_gradient_reduction(b_, layout_, bucket.parameters, unit);
            }
        }
    }

    /// Behind a layer, or behind the first prediction module, with which the head's gradient is complete.
    void reduce_behind(LayerRange range, int layer) {
        if (!range.predicts(layer)) {
            reduce(unit_of_layer(range, layer));
        } else if (layer == range.last - range.predictions) {
            reduce(unit_of_head(range));
        }
    }

    /// Marks the kernel with which the gradients of a bucket begin. Where backward passes are split they wait for a
    /// pass of their own, and are there all the time.
    void mark_buckets(int v) {
        if (splits_backward(s_.plan.schedule) || !shards_gradients(s_.plan.optimizer)) {
            return;
        }
        const LayerRange range = layers_of(s_.workload, s_.plan, v);
        std::vector<GradientBucket> left = buckets_;
        std::erase_if(left, [&](const GradientBucket& bucket) {
            const SummedParts parts = summed_parts(s_.plan, layout_, bucket.parameters);
            return !parts.dense && !parts.experts;
        });
        for (Operation& op : b_.operations_of_block()) {
            const std::optional<int> unit =
                op.phase == Phase::kRecompute ? std::nullopt : unit_of(op, range, has_one_table(s_.workload, s_.plan));
            const auto bucket = std::ranges::find_if(
                left, [&](const GradientBucket& one) { return unit && *unit >= one.first && *unit < one.last; });
            if (bucket != left.end()) {
                op.unit = static_cast<std::int16_t>(bucket->last - 1);
                left.erase(bucket);
            }
        }
    }

    std::vector<GradientBucket> buckets_;  ///< of the block
    BlockBuilder& b_;
    const Shapes& s_;
    const models::Layout& layout_;
};

Program program_without_blocks(const models::Plan& plan, const models::Stack& stack) {
    check_overlap(plan, stack);
    Program program;
    program.micro_batches = plan.micro_batches;
    program.chunks = plan.virtual_stages;
    program.shares_micro_batches = has_stages_twice(plan.schedule);
    program.overlap_tp = plan.overlap_tp, program.overlap_ep = plan.overlap_ep, program.overlap_dp = plan.overlap_dp;
    program.overlap_pp = plan.overlap_pp || !stack.blocking_sends;
    program.overlap_cp = context_split(plan).ring > 1;
    program.offloads = plan.offload_layers > 0;
    for (int v = 0; v < virtual_stages_in_all(plan); ++v) {
        program.role_of_stage.push_back(static_cast<std::uint32_t>(stage_of(plan, v)));
    }
    return program;
}

}  // namespace

Program build_program(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                      const models::Layout& layout) {
    Program program = program_without_blocks(plan, stack);
    const Shapes shapes = shapes_of(workload, plan, stack);
    BlockBuilder builder(program, shapes);
    StageBuilder stages(builder, layout);
    for (int stage = 0; stage < plan.pp; ++stage) {
        program.roles.push_back(stages.role(stage));
    }
    return program;
}

Program build_stage_blocks(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                           const models::Layout& layout, int stage) {
    Program program = program_without_blocks(plan, stack);
    const Shapes shapes = shapes_of(workload, plan, stack);
    BlockBuilder builder(program, shapes);
    StageBuilder stages(builder, layout);
    for (int other = 0; other < plan.pp; ++other) {
        program.roles.push_back(other == stage ? stages.each_block(stage) : Role{other, {}});
    }
    return program;
}

}  // namespace auspex::schedule
