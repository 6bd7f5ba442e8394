/// @file Sums and gathers over the ranks that split a layer's matrices, and over those that split an expert.
#include "schedule/program/block_builder.hpp"

namespace auspex::schedule {
namespace {

bool runs_beside_products(const BlockBuilder& b) {
    const Shapes& s = b.shapes();
    return s.stack.tp_beside_products && s.plan.overlap_tp && s.plan.sequence_parallel;
}

}  // namespace

/// The sum over tp of a row-parallel layer's output, or its scatter along the sequence.
Value reduce_over_tp(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    const bool scatter = s.plan.sequence_parallel;
    return b.communicate(scatter ? OpKind::kTpReduceScatter : OpKind::kTpAllReduce, Stream::kTp,
                         scatter ? CommKind::kReduceScatter : CommKind::kAllReduce, models::GroupKind::kTp, s.plan.tp,
                         {{s.t * s.h}}, {x});
}

/// The sequence gathered over tp where sequence parallelism has split it.
Value gather_over_tp(BlockBuilder& b, Value x, Carries carries) {
    const Shapes& s = b.shapes();
    return s.plan.sequence_parallel
               ? b.communicate(OpKind::kTpAllGather, Stream::kTp, CommKind::kAllGather, models::GroupKind::kTp,
                               s.plan.tp, {{s.t * s.h}}, {x}, {.carries = carries})
               : x;
}

Value gather_before_product(BlockBuilder& b, Value x) {
    const Value gathered = gather_over_tp(b, x);
    if (!runs_beside_products(b) || gathered == x) {
        return gathered;
    }
    b.require_behind_next(gathered);
    return x;
}

Value reduce_behind_product(BlockBuilder& b, Value product) {
    const bool is_beside = runs_beside_products(b) && product != kNoValue && b.before_last_compute() != kNoValue;
    return reduce_over_tp(b, is_beside ? b.before_last_compute() : product);
}

/// Tokens on their way into the experts: the etp ranks that split an expert all need the same t_routed of them. Where
/// tp has already given every rank all t, a group of fewer ranks takes its slice.
Value enter_experts(BlockBuilder& b, Value x, Carries carries) {
    const Shapes& s = b.shapes();
    if (s.plan.etp == s.plan.tp) {
        return gather_over_tp(b, x, carries);
    }
    return s.plan.sequence_parallel || s.plan.etp > s.plan.tp
               ? b.communicate(OpKind::kTpAllGather, Stream::kTp, CommKind::kAllGather, models::GroupKind::kEtp,
                               s.plan.etp, {{s.t_routed * s.h}}, {x}, {.carries = carries})
               : x;
}

/// And out: the parts of an expert summed, and the tp ranks' slices joined again.
Value leave_experts(BlockBuilder& b, Value x) {
    const Shapes& s = b.shapes();
    if (s.plan.etp == s.plan.tp) {
        return reduce_over_tp(b, x);
    }
    x = b.communicate(OpKind::kTpReduceScatter, Stream::kTp, CommKind::kReduceScatter, models::GroupKind::kEtp,
                      s.plan.etp, {{s.t_routed * s.h}}, {x});
    return s.plan.sequence_parallel ? x
                                    : b.communicate(OpKind::kTpAllGather, Stream::kTp, CommKind::kAllGather,
                                                    models::GroupKind::kTp, s.plan.tp, {{s.t * s.h}}, {x});
}

}  // namespace auspex::schedule
