#pragma once
/// @file What processes of a core take from one another when they run in turns: from rows "turn" and "pass".
#include <vector>

#include "compare/fit/cost_models/calibration_result.hpp"
#include "compare/fit/cost_models/fitted.hpp"

namespace auspex::fit {

/// Fills context_switch_s, core_capacity_bytes and reload_byte_s from rows of kind "host"
/// (microbench/context_switch_bench.hpp), n ranks on a core (`ranks`), X bytes a turn (`bytes`):
///   pass = send + receive + switch    (all run kernels; who is next in the ring is next on the core, too)
///   turn - the same where one rank runs kernels only = refill_byte X miss_ratio(core_reach, n X)
/// Passes: the median over rows of what that gives; reach and refill_byte: fit_piecewise_linear
/// (piecewise_linear_fit.hpp). A verdict on each
/// ("passes", "turns"). A warning where nothing was measured: 1 us a switch is assumed, and no refill. Requires near
/// messages.
void fit_context_switches(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration);

}  // namespace auspex::fit
