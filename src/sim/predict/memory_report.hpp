#pragma once
/// @file Memory of a step: what a prediction says of it, and how it comes and goes.
#include <string>
#include <vector>

#include "sim/predict/simulate.hpp"

namespace auspex::predict {

/// True if the plan has a routing record of just this model and batch, so that memory can be told rank by rank.
[[nodiscard]] bool memory_is_of_record(const models::Inputs& inputs, const SimulatedStep& step);
/// Of every stage of a prepared step; the folded lens needs not have been played.
[[nodiscard]] MemoryReport memory_report(const models::Inputs& inputs, const SimulatedStep& step);

/// A pass on the compute stream of its stage: from the start of its first kernel to the end of its last.
struct TimedPass : schedule::PassBytes {
    double begin_s = 0, end_s = 0;
};
struct StageMemoryCourse {
    std::vector<std::pair<std::string, double>> kept;  ///< as StageCourse::kept
    std::vector<TimedPass> passes;                     ///< in order
};
/// Passes with their times on a compute track of a timeline.
[[nodiscard]] StageMemoryCourse timed_course(const models::Inputs& inputs, const SimulatedStep& step, int stage,
                                             const schedule::Timeline& timeline, std::uint32_t compute_track,
                                             schedule::StageCourse course);
/// Of a stage of a prepared step.
[[nodiscard]] schedule::StageCourse course_of(const models::Inputs& inputs, const SimulatedStep& step, int stage);

struct MemoryCourse {
    int tiles = 0, global_batch = 0;
    double step_time_s = 0;
    MemoryReport memory;  ///< that of predict() for the same inputs and tiles
    std::vector<StageMemoryCourse> stages;
};
/// Plays the folded lens once, with a timeline. Throws InputError as predict() does, and for a machine of CPU cores,
/// whose ranks run apart.
[[nodiscard]] MemoryCourse memory_course(const models::Inputs& inputs, int tiles);

/// Live bytes by label of a stage in equal parts of the step: in each part, at the time when their sum is largest.
/// Requires a course with at least one pass.
[[nodiscard]] std::vector<std::vector<double>> most_bytes(const StageMemoryCourse& stage, double step_time_s,
                                                          std::size_t parts);

}  // namespace auspex::predict
