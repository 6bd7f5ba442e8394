#pragma once
/// @file A calibration from start to end: what is measured, or read of another machine, becomes a machine file.
#include <string>

#include "models/machine.hpp"
#include "report/calibration/calibration_report.hpp"
#include "workflows/calibrate/request.hpp"

namespace auspex::workflows {

struct Calibrated {
    report::CalibrationReport report;
    models::Machine machine;  ///< as the new file has it
};

/// Writes the machine file, the file of rows and the report. Throws InputError where something cannot be written or
/// read or is in use, found before anything is measured as far as that goes; and where measurements make no machine, as
/// of "measurements", whatever their file's name. Throws std::runtime_error where measuring fails or is interrupted.
[[nodiscard]] Calibrated calibrate(const CalibrateRequest& request);

/// What the other lenses run with, where a machine has no section "host".
[[nodiscard]] std::string stack_for(const CalibrateRequest& request, const models::Machine& machine);

}  // namespace auspex::workflows
