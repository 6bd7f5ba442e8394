/// @file The load balance of sequences of which a rank routes parts: choices are counted over all ranks that have some.
#include <algorithm>

#include "exec/kernels/routing.hpp"
#include "exec/operations/expert_context.hpp"

namespace auspex::exec {
namespace {

/// Of tokens in a row, each with choices of one sequence.
template <class P>
std::size_t first_routed_row(const ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    return s.etp < s.tp ? static_cast<std::size_t>(on.rank.coordinates.tp) / s.etp * s.t_routed : 0;
}

/// Etp ranks route the same tokens: the first one counts them.
template <class P>
void count_own(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    on.x.sequence_counts = on.template kept<typename P::Real>(s.sequences * s.experts);
    std::ranges::fill(on.x.sequence_counts.span(), typename P::Real{0});
    if (on.rank.coordinates.etp == 0) {
        count_by_sequence(part_of_sequences(on), s.top_k, on.x.choices.data(), on.x.sequence_counts.data());
    }
}

}  // namespace

template <class P>
SequenceRange part_of_sequences(const ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    return {s.t_routed, first_routed_row(on), s.local_sequence, s.sequence, s.experts};
}

template <class P>
void sum_sequence_counts(ExpertContext<P>& on) {
    using R = typename P::Real;
    const models::GroupKind group = on.current.op.group;
    const bool over_tp = group == models::GroupKind::kTp, is_last = !over_tp || on.rank.plan().cp == 1;
    if (over_tp || on.s.etp >= on.s.tp) {
        count_own(on);
    }
    Buffer<R>& counts = on.x.sequence_counts;
    on.rank.communicator->all_reduce(group, counts.data(), counts.size(), element_type<R>(), ReduceOp::kSum);
    const double scale = loss_scales(on.rank).balance;
    if (is_last && on.current.op.phase == schedule::Phase::kForward && on.rank.coordinates.etp == 0 && scale != 0) {
        on.rank.loss.auxiliary += scale * balance_sum(part_of_sequences(on), std::as_const(on.x.probabilities).data(),
                                                      std::as_const(counts).data());
    }
}

#define AUSPEX_INSTANTIATE(P)                                          \
    template SequenceRange part_of_sequences(const ExpertContext<P>&); \
    template void sum_sequence_counts(ExpertContext<P>&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
