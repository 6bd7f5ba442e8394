/// @file What the ends of the model and prediction modules make and release.
#include "schedule/memory/memory_walk.hpp"

namespace auspex::schedule {

void BlockWalk::head_step(const Operation& op) {
    switch (op.kind) {
        case OpKind::kEmbedding:
            s_.sequence_parallel ? work(x_, s_.t * s_.h * s_.a) : begin_sublayer();
            return tally_.make(pass_.router_logits, MemoryLabel::kRouterLogits, chunk_.router_logits);
        case OpKind::kFinalNorm: return tally_.make(head().norm, kActivations, s_.ts * s_.h * s_.a);
        case OpKind::kLmHead: return make_logits();
        default: return cross_entropy_step();
    }
}

void BlockWalk::make_logits() {
    const std::uint64_t numbers = s_.t * s_.vocabulary;
    tally_.make(head().logits, MemoryLabel::kLogits, s_.loss_of_pytorch ? 0 : numbers * kReal);
    tally_.make(head().logits, MemoryLabel::kLogits, s_.loss_of_pytorch || s_.keeps_bf16_logits ? numbers * s_.a : 0);
}

void BlockWalk::cross_entropy_step() {
    const std::uint64_t copy = s_.t * s_.vocabulary * kReal;
    for (std::uint64_t n = s_.loss_of_pytorch ? 1 : 0; n < s_.logit_copies; ++n) {
        tally_.make_for_now(MemoryLabel::kLogits, copy);
    }
    if (s_.loss_of_pytorch && s_.logit_copies > 0) {
        tally_.replace(head().logits, MemoryLabel::kLogits, copy);  // log-softmax
    }
    tally_.make(head().logits, MemoryLabel::kLogits, s_.t * 3 * kReal);
}

/// The last of the copies is the gradient, which is then cast.
void BlockWalk::cross_entropy_gradient() {
    if (!s_.loss_of_pytorch) {
        return;
    }
    const std::uint64_t numbers = s_.t * s_.vocabulary;
    Tensors gradient;
    for (std::uint64_t n = 1; n < s_.logit_copies; ++n) {
        tally_.make_for_now(MemoryLabel::kLogits, numbers * kReal);
    }
    if (s_.logit_copies > 0) {
        tally_.make(gradient, MemoryLabel::kLogits, numbers * kReal);
        tally_.release(head().logits);
        tally_.end_operation(number_);
        tally_.release(gradient);
    }
    tally_.replace(head().logits, MemoryLabel::kLogits, numbers * s_.a);
}

void BlockWalk::head_gradient(const Operation& op) {
    switch (op.kind) {
        case OpKind::kEmbedding:
            tally_.release(g_);
            tally_.release(gathered_g_);
            return tally_.release(pass_.router_logits);
        case OpKind::kFinalNorm: {
            Tensors gradient;
            work(gradient, s_.ts * s_.h * s_.a);
            tally_.release(x_);
            tally_.release(g_);  // of a prediction module, added up
            MemoryTally::move(gradient, g_);
            return tally_.release(head().norm);
        }
        case OpKind::kLmHead:
            if (!weight()) {
                return work(x_, s_.t * s_.h * s_.a);
            }
            tally_.release(head().logits);
            return tally_.release(head().gathered);
        case OpKind::kCrossEntropy: return cross_entropy_gradient();
        default: return;
    }
}

bool BlockWalk::is_lookup_of_prediction(const Operation& op) const {
    if (op.layer < 0 || !chunk_.layers.predicts(op.layer)) {
        return false;
    }
    const bool over_tp = op.kind == OpKind::kTpReduceScatter || op.kind == OpKind::kTpAllReduce ||
                         (op.kind == OpKind::kTpAllGather && gradient());
    return op.kind == OpKind::kEmbedding || (looks_up_ && over_tp);
}

void BlockWalk::lookup_step(const Operation& op) {
    SublayerMemory& own = prediction(op);
    const std::uint64_t whole = s_.t * s_.h * s_.a, bytes = s_.ts * s_.h * s_.a;
    switch (op.kind) {
        case OpKind::kEmbedding:
            looks_up_ = !gradient();
            if (gradient()) {
                tally_.release(d_embedding_);
                return tally_.release(gathered_g_);
            }
            return s_.sequence_parallel ? work(x_, whole) : tally_.make(own.rest, kActivations, bytes);
        case OpKind::kTpReduceScatter: tally_.make(own.rest, kActivations, bytes); return tally_.release(x_);
        case OpKind::kTpAllGather: work(gathered_g_, whole); return tally_.release(d_embedding_);
        default: return;
    }
}

/// The pair of norms, which weights read, and what the layer reads.
void BlockWalk::prediction_step(const Operation& op) {
    const std::uint64_t bytes = s_.ts * s_.h * s_.a;
    if (recomputes()) {
        return tally_.make(prediction(op).for_weights, kWorkspace, 2 * bytes);
    }
    !redone().norm ? tally_.make(prediction(op).for_weights, kActivations, 2 * bytes)
                   : tally_.make_for_now(kWorkspace, 2 * bytes);
    tally_.make(sublayer().rest, kActivations, bytes);
    looks_up_ = false;
    ++head_;
}

void BlockWalk::prediction_gradient(const Operation& op) {
    if (weight()) {
        tally_.release(d_projected_);
        return tally_.release(prediction(op).for_weights);
    }
    const std::uint64_t bytes = s_.ts * s_.h * s_.a;
    tally_.make_for_now(kWorkspace, 2 * bytes);
    MemoryTally::move(g_, puts_off() ? prediction(op).for_weights : d_projected_);
    work(g_, bytes);
    work(d_embedding_, bytes);
    tally_.release(prediction(op).rest);
    looks_up_ = true;
    --head_;
}

}  // namespace auspex::schedule
