/// @file What the operations of layers make and release, outside attention and experts.
#include "schedule/memory/memory_walk.hpp"

#include <algorithm>
#include <cmath>

namespace auspex::schedule {

BlockWalk::BlockWalk(const MemorySizes& sizes, const ChunkSizes& chunk, std::span<const LayerRows> rows,
                     PassMemory& pass, const Playback& playback)
    : s_(sizes), chunk_(chunk), rows_(rows), pass_(pass), playback_(playback) {}

BlockMemory BlockWalk::run(const Program& program, const Block& block, const MemoryProbe& probe) {
    block_ = block.kind;
    tally_.play_on(playback_.allocator);
    begin_block();
    if (playback_.units == nullptr) {
        begin_units(program, block);
    } else if (block.kind != BlockKind::kOptimizer) {
        playback_.units->begin_pass(block, chunk_.layers, chunk_.is_tied);
    }
    const std::span<const Operation> operations = program.operations_of(block);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        phase_ = operations[i].phase;
        if (probe.only) {
            const bool comes_back = operations[i].kind == OpKind::kActivationsFromHost;  // of what was not left out
            tally_.leave_out_activations(!comes_back && kind_of(operations[i]) != *probe.only);
        }
        run_operation(operations[i], static_cast<std::uint32_t>(i));
        if (i + 1 == operations.size()) {
            end_block();
        }
        if (i == probe.operation) {
            tally_.probe();
        }
        tally_.end_operation(static_cast<std::uint32_t>(i));
    }
    if (playback_.units != nullptr) {
        block_ == BlockKind::kOptimizer ? playback_.units->update() : playback_.units->end_pass();
    }
    return tally_.result();
}

void BlockWalk::run_operation(const Operation& op, std::uint32_t number) {
    ShardedUnits* const units = block_ == BlockKind::kOptimizer ? nullptr : playback_.units;
    number_ = number;
    if (playback_.units == nullptr) {
        make_units(op);
    } else if (units != nullptr) {
        units->before(op);
    }
    tally_.allocates(true);
    if (phase_ != Phase::kReference) {  // less than what the forward pass behind it makes
        step(op);
    }
    tally_.allocates(false);
    if (playback_.units == nullptr) {
        release_units(number);
    } else if (units != nullptr) {
        units->behind(op);
    }
}

/// What comes from the chunk before, or behind, on the same rank is there.
void BlockWalk::begin_block() {
    const auto sublayers = static_cast<std::size_t>(2 * (chunk_.layers.last - chunk_.layers.first));
    const std::uint64_t value = s_.ts * s_.h * s_.a;
    sublayer_ = is_backward(block_) ? static_cast<int>(sublayers) - 1 : 0;
    head_ = is_backward(block_) ? chunk_.layers.predictions : 0;
    if (block_ == BlockKind::kForward) {
        pass_.sublayers.assign(sublayers, {});
        pass_.on_host.clear();
        pass_.heads.assign(static_cast<std::size_t>(chunk_.last ? 1 + chunk_.layers.predictions : 0), {});
        pass_.predictions.assign(static_cast<std::size_t>(chunk_.layers.predictions), {});
        pass_.router_logits = {};
        if (chunk_.from_own_rank) {
            MemoryTally::adopt(is_head_input(sublayer_) ? head().norm
                               : in_sublayers()         ? sublayer().rest
                                                        : output_,
                               kActivations, value);
            MemoryTally::adopt(pass_.router_logits, MemoryLabel::kRouterLogits, chunk_.router_logits);
        }
    } else if (chunk_.to_own_rank && block_ != BlockKind::kBackwardWeight && block_ != BlockKind::kOptimizer) {
        MemoryTally::adopt(g_, kWorkspace, value);
        MemoryTally::adopt(pass_.router_logits, MemoryLabel::kRouterLogits, chunk_.router_logits);
    }
}

void BlockWalk::end_block() {
    if (block_ == BlockKind::kBackward || block_ == BlockKind::kBackwardWeight) {
        leave_gradients(chunk_.gradients);  // of which the rest
    } else if (block_ == BlockKind::kOptimizer) {
        Tensors gradients;
        MemoryTally::adopt(gradients, MemoryLabel::kGradients, chunk_.gradients_of_stage);
        tally_.release(gradients);
    }
    const bool hands_over = block_ == BlockKind::kForward
                                ? chunk_.to_own_rank
                                : chunk_.from_own_rank && block_ != BlockKind::kBackwardWeight;
    if (hands_over && block_ != BlockKind::kOptimizer) {
        pass_.router_logits = {};  // the other chunk adopts them
    }
}

KeptKind BlockWalk::kind_of(const Operation& op) const {
    switch (op.kind) {
        case OpKind::kAttentionNorm:
        case OpKind::kFeedForwardNorm: return KeptKind::kNorm;
        case OpKind::kResidualAdd:  // the last one makes what the final norm reads
            return !is_head_input(sublayer_ + 1) &&
                           (sublayer_ + 1 < static_cast<int>(pass_.sublayers.size()) || chunk_.to_own_rank)
                       ? KeptKind::kInputs
                       : KeptKind::kHead;
        case OpKind::kEmbedding:
        case OpKind::kPredictionInput:
        case OpKind::kReceiveForward: return KeptKind::kInputs;
        case OpKind::kFinalNorm: return KeptKind::kHead;
        default: break;
    }
    if (op.layer < 0) {  // over tp: behind the embedding, and in front of the LM head
        return op.kind == OpKind::kTpReduceScatter ? KeptKind::kInputs : KeptKind::kHead;
    }
    return in_feed_forward() ? KeptKind::kExpert : KeptKind::kAttention;
}

void BlockWalk::step(const Operation& op) {
    if (block_ == BlockKind::kBackwardWeight && op.comm == CommKind::kNone && op.layer >= 0) {
        return weight_step(op);
    }
    if (is_lookup_of_prediction(op)) {
        return lookup_step(op);
    }
    switch (op.kind) {
        case OpKind::kEmbedding:
        case OpKind::kFinalNorm:
        case OpKind::kLmHead:
        case OpKind::kCrossEntropy: return gradient() ? head_gradient(op) : head_step(op);
        case OpKind::kAttentionNorm:
            // of a layer that is made again whole, its attention is in front of the feed-forward's backward
            sublayer_ -= recomputes() && in_feed_forward() ? 1 : 0;
            return norm_step();
        case OpKind::kFeedForwardNorm: return norm_step();
        case OpKind::kModulation:
        case OpKind::kMessageGather: return;  // into what the receive has made
        case OpKind::kWindowShift:            // what arrives takes the place of what was sent
            return tally_.make_for_now(kWorkspace, static_cast<std::uint64_t>(op.bytes));
        case OpKind::kQkvProjection:
        case OpKind::kQkNormSums:
        case OpKind::kQkNorm:
        case OpKind::kRotaryEmbedding:
        case OpKind::kKeyValueGather:
        case OpKind::kKeyValueRing:
        case OpKind::kTokensToHeads:
        case OpKind::kAttentionOfOthers:
        case OpKind::kHeadsToTokens:
        case OpKind::kAttention:
        case OpKind::kAttentionOutput: return gradient() ? attention_gradient(op) : attention_step(op);
        case OpKind::kQueryDown:
        case OpKind::kKeyValueDown:
        case OpKind::kQueryUp:
        case OpKind::kKeyValueUp: return gradient() ? latent_gradient(op) : latent_step(op);
        case OpKind::kGateUpProjection:
        case OpKind::kActivation:
        case OpKind::kDownProjection: return gradient() ? dense_gradient(op) : dense_step(op);
        case OpKind::kResidualAdd: return residual_step();
        case OpKind::kPredictionInput: return gradient() ? prediction_gradient(op) : prediction_step(op);
        case OpKind::kRouter:
        case OpKind::kRouterTopK:
        case OpKind::kTokenCommunication:
        case OpKind::kTokenCounting:
        case OpKind::kIndexGeneration:
        case OpKind::kExpertComputation:
        case OpKind::kOutputReduction:
        case OpKind::kTokenReturn: return gradient() ? experts_gradient(op) : experts_step(op);
        case OpKind::kSharedExpert: return gradient() ? shared_gradient() : shared_step();
        case OpKind::kSharedExpertSum: return tally_.release(shared_);
        case OpKind::kTpAllReduce:
        case OpKind::kTpReduceScatter: return tp_step(op);
        case OpKind::kTpAllGather: return gather_step(op);
        case OpKind::kReceiveForward:
        case OpKind::kSendForward:
        case OpKind::kReceiveBackward:
        case OpKind::kSendBackward: return message_step(op);
        case OpKind::kActivationsToHost:
        case OpKind::kActivationsFromHost:
        case OpKind::kHostCopyWait: return host_copy_step(op);
        default: return optimizer_step(op);
    }
}

const models::Recompute& BlockWalk::redone() const {
    const auto layer = static_cast<std::size_t>(sublayer_ / 2);
    return s_.recompute[std::min(layer, s_.recompute.size() - 1)];
}

std::uint64_t BlockWalk::rows() const {
    return rows_.empty() ? s_.rows : rows_[static_cast<std::size_t>(sublayer_ / 2)].computed;
}

std::uint64_t BlockWalk::sent_rows() const {
    return rows_.empty() ? s_.sent_rows : rows_[static_cast<std::size_t>(sublayer_ / 2)].sent;
}

MemoryLabel BlockWalk::label_of(bool kept) const { return forward() && kept ? kActivations : kWorkspace; }

void BlockWalk::end_sublayer(std::uint64_t elements) {
    tally_.replace(x_, kWorkspace, elements * s_.a);
    if (recomputes() && (!redone().layer || in_feed_forward())) {
        tally_.release(x_);
    }
    tally_.release(passing_.rest);
    tally_.release(passing_.for_weights);
}

void BlockWalk::norm_step() {
    const bool weights_read_it = !mixture() || s_.shared_inner > 0;
    const std::uint64_t bytes = s_.ts * s_.h * s_.a;
    if (recomputes() && in_feed_forward() && redone().alternate_products) {
        work(sublayer().rest, bytes);  // its input, from attention's output that is made again
    }
    if (!gradient()) {
        return weights_read_it ? keep_for_weights(!redone().norm, s_.as_operands(s_.ts * s_.h))
                               : keep(!redone().norm, bytes);
    }
    tally_.replace(x_, kWorkspace, bytes);
    tally_.release(sublayer().rest);
    puts_off() ? put_off_weights() : tally_.release(sublayer().for_weights);
}

void BlockWalk::put_off_weights() {
    for (Tensors* gradient : {&d_query_, &d_key_value_, &d_q_latent_, &d_kv_latent_, &d_gate_up_, &d_rows_, &d_shared_,
                              &gathered_g_, &shared_g_}) {
        MemoryTally::move(*gradient, sublayer().for_weights);
    }
}

/// The last gradient of a sublayer's weights releases all that is left of it.
void BlockWalk::weight_step(const Operation& op) {
    if (op.kind == OpKind::kPredictionInput) {
        return tally_.release(prediction(op).for_weights);
    }
    const OpKind last = !in_feed_forward()    ? !s_.latent      ? OpKind::kQkvProjection
                                                : s_.q_rank > 0 ? OpKind::kQueryDown
                                                                : OpKind::kKeyValueDown
                        : !mixture()          ? OpKind::kGateUpProjection
                        : s_.shared_inner > 0 ? OpKind::kSharedExpert
                                              : OpKind::kExpertComputation;
    if (op.kind == last) {
        tally_.release(sublayer().for_weights);
        tally_.release(saved_);
        --sublayer_;
    }
}

void BlockWalk::residual_step() {
    tally_.release(x_);
    if (gradient()) {
        if (puts_off()) {  // the gradient so far stays as it is, where weights read it unsliced
            const bool weights_read_it = !s_.sequence_parallel && (!mixture() || s_.shared_inner > 0);
            weights_read_it ? MemoryTally::move(g_, sublayer().for_weights) : tally_.release(g_);
            work(g_, s_.ts * s_.h * s_.a);
        }
        --sublayer_;
        return;
    }
    tally_.release(between_);
    ++sublayer_;
    if (in_sublayers() && in_feed_forward() && (redone().layer || redone().alternate_products)) {
        work(recomputes() ? sublayer().rest : between_, s_.ts * s_.h * s_.a);
    } else {
        begin_sublayer();
    }
}

/// What the next sublayer reads; behind the last one the final norm, or the next stage.
void BlockWalk::begin_sublayer() {
    const std::uint64_t bytes = s_.ts * s_.h * s_.a;
    if (is_head_input(sublayer_)) {
        tally_.make(head().norm, kActivations, bytes);
    } else if (in_sublayers()) {
        tally_.make(sublayer().rest, kActivations, bytes);
    } else if (chunk_.to_own_rank) {
        Tensors of_next_chunk;
        tally_.make(of_next_chunk, kActivations, bytes);
    } else {
        work(output_, bytes);
    }
}

void BlockWalk::dense_step(const Operation& op) {
    switch (op.kind) {
        case OpKind::kGateUpProjection: {
            const std::uint64_t again = redone().alternate_products ? 1 : 0;  // of the projections up
            const std::uint64_t made = recomputes() && again > 0 ? again : s_.gates - again;
            return keep(keeps_experts(), s_.t * made * s_.inner * s_.a);
        }
        case OpKind::kActivation: {
            if (mixture()) {  // of the routed experts, made again by itself
                return keep_for_weights(false, rows() * s_.expert_inner * s_.a);
            }
            const bool kept = keeps_experts() && !redone().activation;
            keep_for_weights(kept, s_.as_operands(s_.t * s_.inner));
            return keep(kept, s_.keeps_activation ? s_.t * s_.inner * s_.a : 0);
        }
        default:
            if (op.kind == OpKind::kDownProjection && forward() && redone().alternate_products && s_.keeps_unread) {
                keep(keeps_experts(), s_.t * s_.h * s_.a);  // saved by its kind, though nothing reads it
            }
            return end_sublayer(s_.t * s_.h);
    }
}

void BlockWalk::dense_gradient(const Operation& op) {
    switch (op.kind) {
        case OpKind::kDownProjection:
            return weight() ? tally_.release(gathered_g_) : work(d_inner_, s_.t * s_.inner * s_.a);
        case OpKind::kActivation: work(d_gate_up_, s_.t * s_.gates * s_.inner * s_.a); return tally_.release(d_inner_);
        default: break;
    }
    if (!weight()) {
        return work(x_, s_.t * s_.h * s_.a);
    }
    tally_.release(d_gate_up_);
    tally_.release(saved_);
}

void BlockWalk::tp_step(const Operation& op) {
    const bool shared = sums_shared_ && op.group == models::GroupKind::kTp;
    sums_shared_ = sums_shared_ && !shared;
    if (op.kind == OpKind::kTpAllReduce) {
        return;
    }
    const std::uint64_t bytes = s_.slice * s_.h * s_.a;
    if (forward() && op.layer < 0) {
        begin_sublayer();
        return tally_.release(x_);
    }
    tally_.replace(shared ? shared_ : x_, kWorkspace, bytes);
}

void BlockWalk::gather_step(const Operation& op) {
    const bool over_etp = op.group == models::GroupKind::kEtp;
    const std::uint64_t bytes = (over_etp ? s_.t_routed : s_.t) * s_.h * s_.a;
    if (op.carries == Carries::kSavedInput) {
        return work(saved_, bytes);
    }
    if (forward() && op.layer < 0) {
        return tally_.make(head().gathered, kActivations, bytes);
    }
    if (!in_sublayers()) {  // before the embedding
        work(gathered_g_, bytes);
        return tally_.release(g_);
    }
    const bool beside_experts = mixture() && s_.etp_differs && !over_etp;
    if (beside_experts && !s_.sequence_parallel) {  // slices joined again
        return tally_.replace(x_, kWorkspace, bytes);
    }
    if (gradient()) {
        return work(beside_experts ? shared_g_ : gathered_g_, bytes);
    }
    const bool tokens = mixture() && s_.ep == 1 && !beside_experts;
    return tokens ? keep(keeps_experts(), bytes) : keep(false, bytes);
}

void BlockWalk::message_step(const Operation& op) {
    const std::uint64_t bytes = s_.ts * s_.h * s_.a;
    switch (op.kind) {
        case OpKind::kReceiveForward:
            tally_.make_for_now(MemoryLabel::kCommunication, chunk_.received);
            begin_sublayer();
            return tally_.make(pass_.router_logits, MemoryLabel::kRouterLogits, chunk_.router_logits);
        case OpKind::kSendForward: tally_.release(output_); return tally_.release(pass_.router_logits);
        case OpKind::kReceiveBackward:
            tally_.make_for_now(MemoryLabel::kCommunication, chunk_.received_back);
            work(g_, bytes);
            return tally_.make(pass_.router_logits, MemoryLabel::kRouterLogits, chunk_.router_logits);
        default: tally_.release(g_); return tally_.release(pass_.router_logits);
    }
}

void BlockWalk::optimizer_step(const Operation& op) {
    if (op.kind == OpKind::kGradientTpAllReduce || op.kind == OpKind::kTiedEmbeddingAllReduce) {
        tally_.make_for_now(MemoryLabel::kCommunication, static_cast<std::uint64_t>(std::llround(op.bytes)));
    } else if (op.kind == OpKind::kMirrorGradientExchange) {
        tally_.make_for_now(MemoryLabel::kCommunication, chunk_.gradients_from_mirror);
    } else if (op.kind == OpKind::kMirrorParameterExchange) {
        tally_.make_for_now(MemoryLabel::kCommunication, chunk_.parameters_from_mirror);
    }
}

}  // namespace auspex::schedule
