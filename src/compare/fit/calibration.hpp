#pragma once
/// @file From measurements to a machine file: fits, intervals, verdicts.
#include <string>
#include <vector>

#include "base/json.hpp"
#include "compare/fit/cost_models/calibration_result.hpp"
#include "models/machine.hpp"
#include "models/measurement.hpp"
#include "models/stack.hpp"

namespace auspex::fit {

/// Fits the host section of a machine from rows of kinds kernel, message, host. `name`: of the machine; the other
/// sections (tile, node, fabric) follow from the fits, so that the other lenses take the file too.
/// `far` rows, where there are some, give node.nic and host.far; else runs stay on one node.
[[nodiscard]] Calibration calibrate_cpu(const std::string& name, const std::vector<models::Measurement>& measurements,
                                        const models::Stack& stack);

/// For machines elsewhere: rows of kinds gemm, memory, attention, start and link replace the constants of `base` (a
/// machine file) that they determine; docs/calibration.md lists which. Constants without rows stay. Terms of these fits
/// are the constants, in SI. Rows of kind collective are predicted with the new machine and `stack`, as a check;
/// constants of the stack stay, `advice` and warnings say what the rows hold of them. Throws InputError, naming the
/// row's line, for rows that fit no constant of `base`.
[[nodiscard]] Calibration calibrate_from(const JsonDocument& base, const std::vector<models::Measurement>& measurements,
                                         const models::Stack& stack);

}  // namespace auspex::fit
