#pragma once
/// @file Whether a step calls a kernel with the very sizes that calibration times.
#include "models/inputs.hpp"

namespace auspex::workflows {

/// One of the step's kernel calls has all the sizes of one of microbench::calibration_calls: what is predicted of such
/// a layout would in part be read off. Walking to an operation (CpuKernel::kOperation) is no shape. Requires a
/// plan that says all its degrees, and that the trainer runs.
[[nodiscard]] bool has_calibrated_shape(const models::Inputs& inputs);

}  // namespace auspex::workflows
