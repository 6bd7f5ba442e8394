/// @file Sums, scatters and gathers over the ranks that split a layer's matrices. With sequence parallelism tp index i
/// has rows [i, i + 1) * t / tp of each micro-batch; etp ranks that split experts have the slices of all of them.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "exec/kernels/copies.hpp"
#include "exec/operations/head_operations.hpp"
#include "exec/operations/health.hpp"
#include "exec/operations/sublayer.hpp"

namespace auspex::exec {
namespace {

template <class P>
struct Tp {
    using V = typename P::Value;
    using R = typename P::Real;
    Rank<P>& rank;
    const CurrentOperation& current;
    PassTensors<P>& pass;
    const RankShapes& s;
    RunningValues<P>& running;

    Tp(Rank<P>& on, const CurrentOperation& operation)
        : rank(on), current(operation), pass(pass_of(on, operation)), s(on.shapes), running(on.running) {}

    [[nodiscard]] bool in_layer() const { return current.op.layer >= 0; }

    /// Equal slices of a micro-batch's rows over the operation's group: over tp, or over the etp ranks that split
    /// experts.
    [[nodiscard]] bool over_etp() const { return current.op.group == models::GroupKind::kEtp; }
    [[nodiscard]] std::size_t slice() const { return s.t / s.tp * s.h; }
    [[nodiscard]] std::vector<std::size_t> slices() const {
        std::vector<std::size_t> offsets;
        for (std::size_t i = 0; i <= (over_etp() ? s.etp : s.tp); ++i) {
            offsets.push_back(i * slice());
        }
        return offsets;
    }
    [[nodiscard]] std::size_t own_slice() const {
        return static_cast<std::size_t>(over_etp() ? rank.coordinates.etp : rank.coordinates.tp) * slice();
    }
    /// Sums and gathers over tp in a sublayer whose routed experts have their own over etp: of its shared experts, or,
    /// of a value that is not sliced elsewhere, behind the routed ones.
    [[nodiscard]] bool beside_experts() const {
        return in_layer() && s.etp != s.tp && !over_etp() && rank.workload().is_moe_layer(current.op.layer) &&
               in_feed_forward(rank, current);
    }

    template <class T>
    void sum(Buffer<T>& buffer, ReduceOp op) {
        check_contribution(rank, current, std::as_const(buffer).span());
        rank.communicator->all_reduce(models::GroupKind::kTp, buffer.data(), buffer.size(), element_type<T>(), op);
    }

    void all_reduce() {
        if (current.op.carries == schedule::Carries::kQkNormSums) {
            sum(current.forward() ? attention_of(rank, current).sums : running.qk_sums, ReduceOp::kSum);
        } else if (current.op.carries == schedule::Carries::kSoftmaxParts) {
            HeadTensors<P>& head = head_of(rank, current);
            sum(head.parts, ReduceOp::kLogSumExp);
            add_cross_entropy(rank, head);
        } else if (current.op.phase == schedule::Phase::kForward && in_lookup(rank, current)) {
            sum(prediction_of(rank, current).embedding, ReduceOp::kSum);
        } else if (beside_experts()) {
            sum(running.shared, ReduceOp::kSum);
        } else {
            sum(current.forward() && !in_layer() ? pass.attention.front().input : running.x, ReduceOp::kSum);
        }
    }

    /// running.x becomes the rank's slice of its sum; after the embedding it is the first layer's input, or what a
    /// prediction module has looked up.
    void reduce_scatter() {
        const bool looked_up = current.op.phase == schedule::Phase::kForward && in_lookup(rank, current);
        const bool embedded = looked_up || (current.forward() && !in_layer());
        Buffer<V>& whole = beside_experts() ? running.shared : running.x;
        check_contribution(rank, current, std::as_const(whole).span());
        rank.communicator->reduce_scatter(current.op.group, whole.data(), slices(), element_type<V>());
        Buffer<V> own(*rank.arena, embedded ? schedule::MemoryLabel::kActivations : schedule::MemoryLabel::kWorkspace,
                      slice());
        copy_values(own.size(), std::as_const(whole).data() + own_slice(), own.data());
        whole.reset();
        (looked_up  ? prediction_of(rank, current).embedding
         : embedded ? pass.attention.front().input
                    : whole) = std::move(own);
    }

    /// Of a slice, or of all rows that the rank's slice is taken from.
    [[nodiscard]] Buffer<V> gathered(const Buffer<V>& from, schedule::MemoryLabel label) {
        AUSPEX_CHECK(from.size() == slice() || from.size() == s.t * s.h, "what is gathered is a slice of the sequence");
        const std::size_t first = from.size() == slice() ? 0 : static_cast<std::size_t>(rank.coordinates.tp) * slice();
        check_contribution(rank, current, from.span().subspan(first, slice()));
        Buffer<V> whole(*rank.arena, label, slices().back());
        copy_values(slice(), from.data() + first, whole.data() + own_slice());
        rank.communicator->all_gather(current.op.group, whole.data(), slices(), element_type<V>());
        return whole;
    }

    /// What a sublayer's first linear layers read. Where experts read it as it is, over ep = 1, it is kept as long as
    /// they are.
    void enter_sublayer() {
        const schedule::MemoryLabel workspace = schedule::MemoryLabel::kWorkspace;
        if (!in_feed_forward(rank, current)) {
            AttentionTensors<P>& sublayer = attention_of(rank, current);
            sublayer.gathered_norm = gathered(sublayer.norm, workspace);
            return;
        }
        FeedForwardTensors<P>& sublayer = feed_forward_of(rank, current);
        const bool of_experts = rank.workload().is_moe_layer(current.op.layer) && s.ep == 1;
        const bool is_redone = redone_of(rank, current).expert;
        sublayer.gathered_norm =
            gathered(sublayer.norm, of_experts ? label_of(current.op.phase, !is_redone) : workspace);
    }

    void all_gather() {
        const schedule::MemoryLabel workspace = schedule::MemoryLabel::kWorkspace;
        if (beside_experts() && !s.sequence_parallel) {  // slices joined again
            running.x = gathered(running.x, workspace);
        } else if (current.op.carries == schedule::Carries::kSavedInput) {
            running.saved = gathered(
                in_feed_forward(rank, current) ? feed_forward_of(rank, current).norm : attention_of(rank, current).norm,
                workspace);
        } else if (beside_experts()) {
            (current.forward() ? feed_forward_of(rank, current).shared_input : running.shared_g) =
                gathered(current.forward() ? feed_forward_of(rank, current).norm : running.g, workspace);
        } else if (current.forward() && in_layer()) {
            enter_sublayer();
        } else if (current.forward()) {
            HeadTensors<P>& head = head_of(rank, current);
            head.gathered_norm = gathered(head.norm, schedule::MemoryLabel::kActivations);
        } else if (in_lookup(rank, current)) {
            running.gathered_g = gathered(running.d_embedding, workspace);
            running.d_embedding.reset();
        } else if (in_layer() && !attention_of(rank, current).input.empty()) {
            running.gathered_g = gathered(running.g, workspace);
        } else {  // no sublayer of the first layer is left: the embedding is next
            running.x = gathered(running.g, workspace);
            running.g.reset();
        }
    }
};

}  // namespace

template <class P>
bool run_tp_operation(Rank<P>& rank, const CurrentOperation& current) {
    switch (current.op.kind) {
        case schedule::OpKind::kTpAllReduce: Tp<P>(rank, current).all_reduce(); return true;
        case schedule::OpKind::kTpReduceScatter: Tp<P>(rank, current).reduce_scatter(); return true;
        case schedule::OpKind::kTpAllGather: Tp<P>(rank, current).all_gather(); return true;
        default: return false;
    }
}

template bool run_tp_operation(Rank<Fp32>&, const CurrentOperation&);
template bool run_tp_operation(Rank<Fp64>&, const CurrentOperation&);
template bool run_tp_operation(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_tp_operation(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
