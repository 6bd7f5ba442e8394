#pragma once
/// @file What processes of a core take from one another when they run in turns: from rows "turn" and "pass".
#include <vector>

#include "compare/fit/laws/fitted.hpp"

namespace auspex {

/// Fills switch_s, core_reach_bytes and refill_byte_s from rows of kind "host" (microbench/turn_bench.hpp), n ranks
/// on a core (`ranks`), X bytes a turn (`bytes`):
///   pass = send + receive + switch    (all run kernels; who is next in the ring is next on the core, too)
///   turn - the same where one rank runs kernels only = refill_byte X missing_share(core_reach, n X)
/// Passes: the median over rows of what that gives; reach and refill_byte: fit_knee (knee_fit.hpp). A verdict on each
/// ("passes", "turns"). A warning where nothing was measured: 1 us a switch is assumed, and no refill. Requires near
/// messages.
void fit_turns(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration);

}  // namespace auspex
