/// @file The norm in front of a sublayer.
#include "exec/operations/sublayer.hpp"

#include "exec/kernels/norm.hpp"

namespace auspex::exec {
namespace {

template <class P>
AttentionTensors<P> what_weights_read(AttentionTensors<P>& all, RunningValues<P>& running) {
    AttentionTensors<P> kept;
    kept.norm = std::move(all.norm), kept.output = std::move(all.output);
    kept.d_first = std::move(running.upstream), kept.d_last = std::move(running.gathered_g);
    LatentTensors<P>&from = all.latent, &to = kept.latent;
    to.q_normed = std::move(from.q_normed), to.kv_normed = std::move(from.kv_normed);
    to.d_query = std::move(from.d_query), to.d_key_value = std::move(from.d_key_value);
    to.d_shared_key = std::move(from.d_shared_key);
    to.d_q_latent = std::move(from.d_q_latent), to.d_kv_latent = std::move(from.d_kv_latent);
    return kept;
}

template <class P>
void keep_dense(FeedForwardTensors<P>& all, RunningValues<P>& running, FeedForwardTensors<P>& kept) {
    kept.norm = std::move(all.norm), kept.product = std::move(all.product);
    kept.d_first = std::move(running.upstream);
    kept.d_last = std::move(running.shared_g.empty() ? running.gathered_g : running.shared_g);
}

/// Of experts the rows that they computed, sorted by expert, whose offsets are those of arrivals where they were sent.
template <class P>
FeedForwardTensors<P> what_weights_read(FeedForwardTensors<P>& all, RunningValues<P>& running) {
    FeedForwardTensors<P> kept;
    ExpertTensors<P>&from = all.experts, &to = kept.experts;
    if (from.offsets.empty()) {  // dense; experts have offsets even where no row came
        keep_dense(all, running, kept);
        return kept;
    }
    const bool was_sent = !from.arrival_offsets.empty();
    (was_sent ? to.arrival_offsets : to.offsets) = std::move(was_sent ? from.arrival_offsets : from.offsets);
    to.permuted = std::move(from.permuted), to.product = std::move(from.product);
    if (to.permuted.empty()) {
        to.received = std::move(from.received);
    }
    to.d_rows = std::move(from.d_rows), to.d_gate_up = std::move(from.d_gate_up);
    if (!all.product.empty()) {  // of shared experts
        keep_dense(all, running, kept);
    }
    return kept;
}

}  // namespace

template <class P, class Tensors>
void run_sublayer_norm(Rank<P>& rank, const CurrentOperation& current, Tensors& sublayer, std::size_t slot) {
    using V = typename P::Value;
    const RankShapes& s = rank.shapes;
    const double epsilon = rank.training().norm_epsilon;
    const V* weight = weight_at(rank, slot);
    if (current.op.phase != schedule::Phase::kBackwardInput) {
        const bool is_redone = redone_of(rank, current).norm;
        const schedule::MemoryLabel label = label_of(current.op.phase, !is_redone);
        sublayer.norm = Buffer<V>(*rank.arena, label, s.t_slice * s.h);
        norm_forward(rank.workload().norm, s.t_slice, s.h, epsilon, sublayer.input.data(), weight,
                     sublayer.norm.data());
        return;
    }
    Buffer<V> dx(*rank.arena, schedule::MemoryLabel::kWorkspace, s.t_slice * s.h);
    norm_backward(rank.workload().norm, s.t_slice, s.h, epsilon, sublayer.input.data(), weight, rank.running.x.data(),
                  dx.data(), gradient_at(rank, slot));
    rank.running.x = std::move(dx);
    sublayer = current.puts_off_weights() ? what_weights_read(sublayer, rank.running) : Tensors{};
}

template void run_sublayer_norm(Rank<Fp32>&, const CurrentOperation&, AttentionTensors<Fp32>&, std::size_t);
template void run_sublayer_norm(Rank<Fp64>&, const CurrentOperation&, AttentionTensors<Fp64>&, std::size_t);
template void run_sublayer_norm(Rank<Bf16Precision>&, const CurrentOperation&, AttentionTensors<Bf16Precision>&,
                                std::size_t);
template void run_sublayer_norm(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&,
                                AttentionTensors<Bf16WithFp32Gradients>&, std::size_t);
template void run_sublayer_norm(Rank<Fp32>&, const CurrentOperation&, FeedForwardTensors<Fp32>&, std::size_t);
template void run_sublayer_norm(Rank<Fp64>&, const CurrentOperation&, FeedForwardTensors<Fp64>&, std::size_t);
template void run_sublayer_norm(Rank<Bf16Precision>&, const CurrentOperation&, FeedForwardTensors<Bf16Precision>&,
                                std::size_t);
template void run_sublayer_norm(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&,
                                FeedForwardTensors<Bf16WithFp32Gradients>&, std::size_t);

}  // namespace auspex::exec
