#pragma once
/// @file Where the virtual stages of a pipeline lie, and what of the model each is. A micro-batch passes them in the
/// order of their numbers; where stages are there twice (has_stages_twice) the first half of the micro-batches passes
/// 0 to pp - 1, the second half pp to 2 pp - 1.
#include "models/plan.hpp"

namespace auspex::schedule {

/// Of a chunk on a stage's ranks: chunk * pp + stage; of the second leg of a V, which goes back up, 2 pp - 1 - stage.
[[nodiscard]] inline int virtual_stage_of(const models::Plan& plan, int chunk, int stage) {
    return chunk == 1 && is_v_shaped(plan.schedule) ? 2 * plan.pp - 1 - stage : chunk * plan.pp + stage;
}
[[nodiscard]] inline int virtual_stages_in_all(const models::Plan& plan) { return plan.pp * plan.virtual_stages; }
/// Parts that the model is cut into, and which of them a virtual stage is.
[[nodiscard]] inline int stages_of_model(const models::Plan& plan) {
    return stages_of_model(plan.schedule, plan.pp, plan.virtual_stages);
}
[[nodiscard]] inline int part_of_model(const models::Plan& plan, int virtual_stage) {
    return virtual_stage % stages_of_model(plan);
}
/// It has the embedding: nothing comes before it.
[[nodiscard]] inline bool is_first_part(const models::Plan& plan, int virtual_stage) {
    return part_of_model(plan, virtual_stage) == 0;
}
/// It has the head: nothing comes behind it.
[[nodiscard]] inline bool is_last_part(const models::Plan& plan, int virtual_stage) {
    return part_of_model(plan, virtual_stage) == stages_of_model(plan) - 1;
}
/// The stage that has it.
[[nodiscard]] inline int stage_of(const models::Plan& plan, int virtual_stage) {
    const int place = virtual_stage % plan.pp;
    return virtual_stage >= plan.pp && is_v_shaped(plan.schedule) ? plan.pp - 1 - place : place;
}
/// The stage that updates the model's last part, with the head.
[[nodiscard]] inline int head_stage_of(const models::Plan& plan) { return stage_of(plan, stages_of_model(plan) - 1); }
/// Of all its parts the first and the last lie on one stage.
[[nodiscard]] inline bool has_both_ends_on_one(const models::Plan& plan) {
    return plan.pp == 1 || is_v_shaped(plan.schedule);
}
/// Micro-batches that pass a chunk.
struct MicroBatches {
    int first = 0, last = 0;
    [[nodiscard]] int count() const { return last - first; }
};
[[nodiscard]] inline MicroBatches micro_batches_of(const models::Plan& plan, int chunk) {
    const int half = plan.micro_batches / 2;
    return !has_stages_twice(plan.schedule) ? MicroBatches{0, plan.micro_batches}
           : chunk == 0                     ? MicroBatches{0, half}
                                            : MicroBatches{half, plan.micro_batches};
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
