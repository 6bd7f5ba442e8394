#pragma once
/// @file The launches of a calibration: which numbers of ranks measure what, and for how long.
#include <set>
#include <string>
#include <vector>

#include "workflows/calibrate/measure_task.hpp"
#include "workflows/calibrate/request.hpp"

namespace auspex::workflows {

/// One launch.
struct CalibrationPart {
    std::string name;  ///< in the file of rows: "4 ranks"
    int ranks = 1;
    MeasureTask task;
    [[nodiscard]] double seconds() const { return task.kernels_s + task.sharing_s + task.messages_s; }
};

/// Kernels on one rank; sharing and messages on 2, 4, … ranks, on one a core, and on the most. Seconds are the least
/// that give good fits.
[[nodiscard]] std::vector<CalibrationPart> shares_of_budget(const CalibrateRequest& request);
/// The same, with the seconds of the budget.
[[nodiscard]] std::vector<CalibrationPart> parts_of(const CalibrateRequest& request);

[[nodiscard]] double seconds_of(const std::vector<CalibrationPart>& parts);
[[nodiscard]] std::set<std::string> names_of(const std::vector<CalibrationPart>& parts);

}  // namespace auspex::workflows
