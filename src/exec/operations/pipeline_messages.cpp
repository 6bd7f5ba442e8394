/// @file Messages between virtual stages: the running value, and router logits or their gradients where they travel.
#include "exec/operations/pipeline_messages.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "exec/kernels/copies.hpp"
#include "exec/operations/head_operations.hpp"
#include "exec/operations/health.hpp"
#include "exec/operations/sublayer.hpp"

namespace auspex::exec {
namespace {

template <class P>
struct Messages {
    using V = typename P::Value;
    Rank<P>& rank;
    const CurrentOperation& current;
    PassTensors<P>& pass;
    const RankShapes& s;

    Messages(Rank<P>& on, const CurrentOperation& operation)
        : rank(on), current(operation), pass(pass_of(on, operation)), s(on.shapes) {}

    [[nodiscard]] bool travel() const {
        return rank.run->stack.router_logits_travel && rank.workload().global_aux_loss;
    }
    /// Router logits, in elements, of all MoE layers before the boundary.
    [[nodiscard]] std::size_t travelling() const {
        const int last = schedule::layers_of(rank.workload(), rank.plan(), current.op.message).last;
        return travel() ? static_cast<std::size_t>(moe_layers_before(rank.workload(), last)) * s.t * s.experts : 0;
    }
    [[nodiscard]] std::size_t elements() const {
        const std::size_t count = s.t_slice * s.h + travelling();
        AUSPEX_CHECK(count == message_elements(rank, current.op.message), "a message is as long as the program says");
        return count;
    }
    [[nodiscard]] int tag() const { return message_tag(rank.plan(), current.op, current.micro_batch); }

    /// Sends and releases.
    void send(Buffer<V>& value) {
        check_contribution(rank, current, std::as_const(value).span());
        check_contribution(rank, current, std::as_const(pass.router_logits).span().first(travelling()));
        const std::span<const std::byte> parts[] = {
            std::as_bytes(std::as_const(value).span()),
            std::as_bytes(std::as_const(pass.router_logits).span().first(travelling()))};
        AUSPEX_CHECK(value.size() + travelling() == elements(), "the value sent is a slice of the residual stream");
        rank.communicator->send(current.op.group, parts, tag());
        value.reset();
        pass.router_logits.reset();
    }

    void receive(Buffer<V>& value, schedule::MemoryLabel label) {
        Buffer<V> message(*rank.arena, schedule::MemoryLabel::kCommunication, elements());
        rank.communicator->receive(current.op.group, std::as_writable_bytes(message.span()), tag());
        value = Buffer<V>(*rank.arena, label, s.t_slice * s.h);
        copy_values(value.size(), std::as_const(message).data(), value.data());
        if (travel()) {
            pass.router_logits = make_router_logits(rank, current.virtual_stage);
            copy_values(travelling(), std::as_const(message).data() + value.size(), pass.router_logits.data());
        }
    }
};

}  // namespace

int message_tag(const models::Plan& plan, const schedule::Operation& op, int micro_batch) {
    const bool forward = op.kind == schedule::OpKind::kSendForward || op.kind == schedule::OpKind::kReceiveForward;
    return (op.message * plan.micro_batches + micro_batch) * 2 + (forward ? 0 : 1);
}

template <class P>
bool run_message(Rank<P>& rank, const CurrentOperation& current) {
    const auto on = [&] { return Messages<P>(rank, current); };
    switch (current.op.kind) {
        case schedule::OpKind::kSendForward: on().send(rank.running.x); return true;
        case schedule::OpKind::kSendBackward: on().send(rank.running.g); return true;
        case schedule::OpKind::kReceiveForward:
            on().receive(pass_of(rank, current).attention.front().input, schedule::MemoryLabel::kActivations);
            return true;
        case schedule::OpKind::kReceiveBackward:
            on().receive(rank.running.g, schedule::MemoryLabel::kWorkspace);
            return true;
        default: return false;
    }
}

template bool run_message(Rank<Fp32>&, const CurrentOperation&);
template bool run_message(Rank<Fp64>&, const CurrentOperation&);
template bool run_message(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_message(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
