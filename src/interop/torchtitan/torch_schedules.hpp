#pragma once
/// @file Names of schedules in torch.distributed.pipelining (torch 2.9, get_schedule_class) that plans have words for.
#include <array>
#include <string_view>

#include "models/pipeline/schedule_kind.hpp"

namespace auspex::interop {

struct TorchSchedule {
    models::ScheduleKind kind;
    std::string_view name;
};
inline constexpr std::array kTorchSchedules{TorchSchedule{models::ScheduleKind::kGpipe, "GPipe"},
                                            TorchSchedule{models::ScheduleKind::k1f1b, "1F1B"},
                                            TorchSchedule{models::ScheduleKind::kInterleaved1f1b, "Interleaved1F1B"},
                                            TorchSchedule{models::ScheduleKind::kZbv, "ZBVZeroBubble"},
                                            TorchSchedule{models::ScheduleKind::kDualPipeV, "DualPipeV"}};

}  // namespace auspex::interop
