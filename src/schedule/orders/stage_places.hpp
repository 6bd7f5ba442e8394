#pragma once
/// @file Where the virtual stages of a pipeline lie. A micro-batch passes them in the order of their numbers.
#include "models/plan.hpp"

namespace auspex::schedule {

/// Of a chunk on a stage's ranks: chunk * pp + stage; of the second leg of a V, which goes back up, 2 pp - 1 - stage.
[[nodiscard]] inline int virtual_stage_of(const models::Plan& plan, int chunk, int stage) {
    return chunk == 1 && is_v_shaped(plan.schedule) ? 2 * plan.pp - 1 - stage : chunk * plan.pp + stage;
}
/// The one with the head.
[[nodiscard]] inline int last_virtual_stage_of(const models::Plan& plan) { return plan.pp * plan.virtual_stages - 1; }
/// The stage that has it.
[[nodiscard]] inline int stage_of(const models::Plan& plan, int virtual_stage) {
    const int place = virtual_stage % plan.pp;
    return virtual_stage >= plan.pp && is_v_shaped(plan.schedule) ? plan.pp - 1 - place : place;
}
/// The virtual stages before and behind a boundary lie on the same ranks: no message crosses it.
[[nodiscard]] inline bool is_local_boundary(const models::Plan& plan, int boundary) {
    return stage_of(plan, boundary) == stage_of(plan, boundary + 1);
}
/// Messages over it go to the next stage on their way forward, and to the previous one on their way back.
[[nodiscard]] inline bool goes_to_next_stage(const models::Plan& plan, int boundary) {
    return boundary < plan.pp || !is_v_shaped(plan.schedule);
}

}  // namespace auspex::schedule
