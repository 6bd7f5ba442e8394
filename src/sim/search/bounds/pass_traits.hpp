#pragma once
/// @file What of a candidate decides how long its passes take.
#include <tuple>

#include "schedule/program/program.hpp"
#include "sim/search/space/candidate.hpp"

namespace auspex::search {

/// The plan lets the stream run beside kernels.
[[nodiscard]] inline bool overlaps(const Candidate& c, schedule::Stream stream) {
    switch (stream) {
        case schedule::Stream::kTp: return (c.overlap & kOverlapTp) != 0;
        case schedule::Stream::kEp: return (c.overlap & kOverlapEp) != 0;
        case schedule::Stream::kDp: return (c.overlap & kOverlapDp) != 0;
        case schedule::Stream::kPp: return (c.overlap & kOverlapPp) != 0;
        case schedule::Stream::kToHost:
        case schedule::Stream::kFromHost: return true;
        case schedule::Stream::kCp:
        case schedule::Stream::kCompute: break;
    }
    return false;
}

/// The operation, built for a plan that overlaps nothing, may run beside kernels.
[[nodiscard]] inline bool overlaps(const Candidate& c, const schedule::Operation& op) {
    return overlaps(c, op.stream) || op.beside;
}

/// Of overlap, what changes passes.
[[nodiscard]] inline int overlap_of_passes(const Candidate& c) { return c.overlap & (kOverlapTp | kOverlapEp); }

/// How virtual stages lie: round by round, in a V, in a V of which each leg is the model.
enum class StageShape : std::uint8_t { kRounds, kV, kTwice };
[[nodiscard]] inline StageShape stage_shape_of(models::ScheduleKind kind) {
    return has_stages_twice(kind) ? StageShape::kTwice : is_v_shaped(kind) ? StageShape::kV : StageShape::kRounds;
}

/// Virtual stages of a stage, how they lie, and how layers are dealt to them.
using Chunks = std::tuple<int, StageShape, models::StageDeal>;
/// What a stage has of layers depends on them.
[[nodiscard]] inline Chunks chunks_of(const Candidate& c) {
    return {c.virtual_stages, stage_shape_of(c.schedule), c.stages};
}

/// What the order of zb-auto is made for; nothing for other schedules.
[[nodiscard]] inline models::AutoOrder auto_order_of(const Candidate& c, const models::Inputs& inputs) {
    return c.schedule == models::ScheduleKind::kZbAuto ? models::resolved(inputs.plan.auto_order, inputs.workload, c.pp)
                                                       : models::AutoOrder{};
}

/// Of the two stages at a boundary, the one whose next stage is the other.
[[nodiscard]] inline int first_of_ends(const models::Plan& plan, int boundary) {
    return schedule::stage_of(plan, schedule::goes_to_next_stage(plan, boundary) ? boundary : boundary + 1);
}

/// For what asks nothing else of a plan that would have to be resolved.
[[nodiscard]] inline models::Plan plan_with_layers(const Candidate& c, const models::Inputs& inputs) {
    models::Plan plan = plan_of(c, inputs.plan);
    plan.stage_layers = stage_layers_of(c, inputs);
    return plan;
}

}  // namespace auspex::search
