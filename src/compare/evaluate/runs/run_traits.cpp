/// @file Properties of runs, from their inputs.
#include "compare/evaluate/runs/run_traits.hpp"

namespace auspex::evaluate {

RunTraits traits_of(const models::Inputs& inputs, int tiles) {
    const models::Plan& plan = inputs.plan;
    RunTraits traits;
    traits.is_fp8 = plan.fp8 != models::Fp8::kNone;
    traits.has_experts = inputs.workload.num_experts > 0;
    traits.are_weights_sharded = plan.optimizer == models::OptimizerSharding::kFsdp;
    traits.recompute = plan.recompute == models::Recompute{} ? Recomputed::kNone
                       : plan.recompute.layer                ? Recomputed::kFull
                                                             : Recomputed::kSelective;
    traits.tp = plan.tp, traits.pp = plan.pp, traits.tiles = tiles;
    traits.sequence = inputs.workload.sequence_length;
    traits.tiles_per_card = inputs.machine.node.tiles_per_card;
    traits.tiles_per_node = inputs.machine.node.tiles;
    return traits;
}

}  // namespace auspex::evaluate
