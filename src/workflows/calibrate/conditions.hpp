#pragma once
/// @file Under what conditions a calibration measures now.
#include "models/stack.hpp"
#include "workflows/calibrate/calibration_file.hpp"
#include "workflows/calibrate/request.hpp"

namespace auspex::workflows {

/// Everything that rows of one file have in common beside the processor. Throws InputError where the hostfile or the
/// stack cannot be read.
[[nodiscard]] Conditions conditions_now(const CalibrateRequest& request, const models::Stack& stack);

}  // namespace auspex::workflows
