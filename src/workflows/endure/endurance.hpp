#pragma once
/// @file Calibration, runs that are killed at random, and their predictions, from start to end.
#include <cstddef>
#include <functional>
#include <string>

#include "report/endurance/endurance_report.hpp"
#include "workflows/endure/request.hpp"

namespace auspex::workflows {

/// What somebody who looks on is told, as it comes; both are called.
struct EndureWatch {
    std::function<void(const std::string&)> line;
    std::function<void(std::size_t done, std::size_t all)> progress;  ///< in runs
};

/// Settings in turns, so that what drifts on the computer meets all of them; pieces are timed before, between and after
/// their runs. Turns go on until there were as many kills as are wanted. Throws InputError where model, data and ranks
/// do not fit, std::runtime_error where a run that nothing happens to fails, Interrupted (launch/train/child_run.hpp).
[[nodiscard]] report::EnduranceReport endure(const EndureRequest& request, const EndureWatch& watch);

}  // namespace auspex::workflows
