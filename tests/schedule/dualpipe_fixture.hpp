#pragma once
/// @file Seeded random plans whose stages are there twice.
#include "plan_fixture.hpp"

namespace auspex::testing_plans {

/// The seed's case of random_case with pp of 2 or 4, micro-batches that fill the pipeline, and an optimizer that sums
/// gradients once a step. Draws that no workload could run are drawn again.
inline Case dualpipe_case(std::uint64_t seed, bool overlap = true) {
    Rng rng(seed);
    for (;;) {
        Case c = random_case(rng.below(1'000'000), overlap);
        models::Plan& p = c.plan;
        p.schedule = models::ScheduleKind::kDualPipe;
        p.pp = detail::one_of(rng, {2, 4});
        p.virtual_stages = 2;
        p.micro_batches = 2 * p.pp + 2 * static_cast<int>(rng.below(3));
        p.stage_layers.clear();
        p.stages = detail::one_of(rng, {models::StageDeal::kEven, models::StageDeal::kByCost});
        p.shard_replicas = 1, p.prefetch = 1, p.reshard_after_forward = true;
        p.optimizer = detail::one_of(rng, {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
                                           models::OptimizerSharding::kEpAware});
        try {
            p = resolve_plan(p, c.workload, 0);
            return c;
        } catch (const InputError&) {
            continue;
        }
    }
}

}  // namespace auspex::testing_plans
