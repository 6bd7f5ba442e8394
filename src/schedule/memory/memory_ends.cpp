/// @file What the two ends of the model make and release, and the messages between its chunks.
#include "schedule/memory/memory_walk.hpp"

namespace auspex::schedule {
namespace {

constexpr std::uint64_t kReal = 4;
constexpr auto kActivations = MemoryLabel::kActivations;

}  // namespace

void BlockWalk::head_step(const Operation& op) {
    switch (op.kind) {
        case OpKind::kEmbedding:
            s_.sequence_parallel ? work(x_, s_.t * s_.h * s_.a) : begin_sublayer();
            return tally_.make(pass_.router_logits, MemoryLabel::kRouterLogits, chunk_.router_logits);
        case OpKind::kFinalNorm: return tally_.make(pass_.head, kActivations, s_.ts * s_.h * s_.a);
        case OpKind::kLmHead:
            return tally_.make(pass_.logits, MemoryLabel::kLogits,
                               s_.t * s_.vocabulary * (kReal + (s_.keeps_bf16_logits ? s_.a : 0)));
        default:
            tally_.make_for_now(MemoryLabel::kLogits, s_.logit_copies * s_.t * s_.vocabulary * kReal);
            return tally_.make(pass_.logits, MemoryLabel::kLogits, s_.t * 3 * kReal);
    }
}

void BlockWalk::head_gradient(const Operation& op) {
    switch (op.kind) {
        case OpKind::kEmbedding:
            tally_.release(g_);
            tally_.release(gathered_g_);
            return tally_.release(pass_.router_logits);
        case OpKind::kFinalNorm:
            work(g_, s_.ts * s_.h * s_.a);
            tally_.release(x_);
            return tally_.release(pass_.head);
        case OpKind::kLmHead:
            if (!weight()) {
                return work(x_, s_.t * s_.h * s_.a);
            }
            tally_.release(pass_.logits);
            return tally_.release(pass_.gathered_head);
        default: return;
    }
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

}  // namespace auspex::schedule
