/// @file Sums, scatters and gathers over the ranks that split a layer's matrices. With sequence parallelism tp index i
/// has rows [i, i + 1) * t / tp of each micro-batch.
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

    [[nodiscard]] std::vector<std::size_t> slices() const {
        std::vector<std::size_t> offsets;
        for (std::size_t i = 0; i <= s.tp; ++i) {
            offsets.push_back(i * s.t_slice * s.h);
        }
        return offsets;
    }
    [[nodiscard]] std::size_t own_slice() const {
        return static_cast<std::size_t>(rank.coordinates.tp) * s.t_slice * s.h;
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
            sum(pass.head.parts, ReduceOp::kLogSumExp);
            add_cross_entropy(rank, pass.head);
        } else {
            sum(current.forward() && !in_layer() ? pass.attention.front().input : running.x, ReduceOp::kSum);
        }
    }

    /// running.x [t, h] becomes the rank's slice of its sum; after the embedding it is the first layer's input.
    void reduce_scatter() {
        const bool embedded = current.forward() && !in_layer();
        check_contribution(rank, current, std::as_const(running.x).span());
        rank.communicator->reduce_scatter(models::GroupKind::kTp, running.x.data(), slices(), element_type<V>());
        Buffer<V> slice(*rank.arena, embedded ? schedule::MemoryLabel::kActivations : schedule::MemoryLabel::kWorkspace,
                        s.t_slice * s.h);
        copy_values(slice.size(), std::as_const(running.x).data() + own_slice(), slice.data());
        running.x.reset();
        (embedded ? pass.attention.front().input : running.x) = std::move(slice);
    }

    [[nodiscard]] Buffer<V> gathered(const Buffer<V>& slice, schedule::MemoryLabel label) {
        AUSPEX_CHECK(slice.size() == s.t_slice * s.h, "what is gathered is a slice of the sequence");
        check_contribution(rank, current, slice.span());
        Buffer<V> whole(*rank.arena, label, s.t * s.h);
        copy_values(slice.size(), slice.data(), whole.data() + own_slice());
        rank.communicator->all_gather(models::GroupKind::kTp, whole.data(), slices(), element_type<V>());
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
        const bool is_redone = recompute_of(rank.plan(), static_cast<int>(current.layer_of_chunk())).expert;
        sublayer.gathered_norm =
            gathered(sublayer.norm, of_experts ? label_of(current.op.phase, !is_redone) : workspace);
    }

    void all_gather() {
        const schedule::MemoryLabel workspace = schedule::MemoryLabel::kWorkspace;
        if (current.op.carries == schedule::Carries::kSavedInput) {
            running.saved = gathered(
                in_feed_forward(rank, current) ? feed_forward_of(rank, current).norm : attention_of(rank, current).norm,
                workspace);
        } else if (current.forward() && in_layer()) {
            enter_sublayer();
        } else if (current.forward()) {
            pass.head.gathered_norm = gathered(pass.head.norm, schedule::MemoryLabel::kActivations);
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
