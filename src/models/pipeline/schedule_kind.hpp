#pragma once
/// @file The schedules of a pipeline by their words, and what each asks of a plan. Their orders: schedule/orders.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace auspex::models {

enum class ScheduleKind : std::uint8_t {
    kGpipe,
    k1f1b,
    kInterleaved1f1b,
    kZbH1,
    kZbH2,
    kZbAuto,
    kZbv,
    kVHalf,
    kVMin,
    kDualPipeV,
    kDualPipe
};
inline constexpr std::array kScheduleKinds{
    ScheduleKind::kGpipe,     ScheduleKind::k1f1b,    ScheduleKind::kInterleaved1f1b,
    ScheduleKind::kZbH1,      ScheduleKind::kZbH2,    ScheduleKind::kZbAuto,
    ScheduleKind::kZbv,       ScheduleKind::kVHalf,   ScheduleKind::kVMin,
    ScheduleKind::kDualPipeV, ScheduleKind::kDualPipe};

/// The word in plan files.
[[nodiscard]] const char* to_string(ScheduleKind);
/// Of all, in the order of kScheduleKinds.
[[nodiscard]] std::array<std::string_view, kScheduleKinds.size()> schedule_words();
/// A rank has the virtual stages r and 2 pp - 1 - r; else v on rank v mod pp.
[[nodiscard]] bool is_v_shaped(ScheduleKind);
/// Both legs of the V are the whole model: a rank has stage r for the first half of the micro-batches, and a second
/// copy of stage pp - 1 - r for the others, which begin at the last rank.
[[nodiscard]] bool has_stages_twice(ScheduleKind);
/// Parts that the model is cut into: pp * virtual_stages, or pp where each is there twice.
[[nodiscard]] int stages_of_model(ScheduleKind, int pp, int virtual_stages);
/// Virtual stages a rank: of interleaved-1f1b at least, of the others exactly.
[[nodiscard]] int least_chunks(ScheduleKind);
/// Gradients of weights are passes of their own, behind those of inputs.
[[nodiscard]] bool splits_backward(ScheduleKind);

/// Numbers on which the order of a schedule depends.
struct ScheduleShape {
    int pp = 1, micro_batches = 1, virtual_stages = 1;
};
/// Why a plan cannot be: the name in plan files of what does not fit and a sentence for people, both empty where it
/// can.
struct PlanMisfit {
    std::string field, why;
};
/// Of a schedule that has no order with these numbers.
[[nodiscard]] PlanMisfit misfit_of(ScheduleKind kind, const ScheduleShape& shape);

}  // namespace auspex::models
