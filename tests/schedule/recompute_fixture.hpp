#pragma once
/// @file What may be recomputed of a model's layers, drawn.
#include "base/rng.hpp"
#include "models/plan.hpp"

namespace auspex::testing_plans {

/// Whole sublayers, layers, or parts that the model has; for all layers of a stage, or for some.
inline void draw_recompute(Rng& rng, const models::Workload& w, models::Plan& p) {
    const auto coin = [&rng] { return rng.below(2) == 1; };
    models::Recompute& r = p.recompute;
    r = {};
    switch (rng.below(3)) {
        case 0: r.norm = coin(), r.attention = coin(), r.expert = coin(); break;
        case 1: r.layer = true; break;
        default:
            r.norm = coin(), r.core_attention = coin(), r.activation = coin();
            r.latent_up = coin() && w.attention == models::AttentionKind::kLatent && w.q_rank > 0;
            r.shared_experts = coin() && w.shared_experts > 0;
    }
    p.recompute_layers = r != models::Recompute{} && coin() ? 1 + static_cast<int>(rng.below(2)) : 0;
}

}  // namespace auspex::testing_plans
