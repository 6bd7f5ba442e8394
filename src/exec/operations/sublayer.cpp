/// @file The norm in front of a sublayer.
#include "exec/operations/sublayer.hpp"

#include "exec/kernels/norm.hpp"

namespace auspex::exec {

template <class P, class Tensors>
void run_sublayer_norm(Rank<P>& rank, const CurrentOperation& current, Tensors& sublayer, std::size_t slot) {
    using V = typename P::Value;
    const RankShapes& s = rank.shapes;
    const double epsilon = rank.training().norm_epsilon;
    const V* weight = weight_at(rank, slot);
    if (current.op.phase != schedule::Phase::kBackwardInput) {
        const schedule::MemoryLabel label = label_of(current.op.phase, !rank.plan().recompute_norm);
        sublayer.norm = Buffer<V>(*rank.arena, label, s.t_slice * s.h);
        norm_forward(rank.workload().norm, s.t_slice, s.h, epsilon, sublayer.input.data(), weight,
                     sublayer.norm.data());
        return;
    }
    Buffer<V> dx(*rank.arena, schedule::MemoryLabel::kWorkspace, s.t_slice * s.h);
    norm_backward(rank.workload().norm, s.t_slice, s.h, epsilon, sublayer.input.data(), weight, rank.running.x.data(),
                  dx.data(), gradient_at(rank, slot));
    rank.running.x = std::move(dx);
    sublayer = Tensors{};
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
