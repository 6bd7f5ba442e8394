#pragma once
/// @file What processes of a computer share: cores, last-level cache, memory.
#include <vector>

#include "compare/fit/cost_models/calibration_result.hpp"
#include "compare/fit/cost_models/fitted.hpp"

namespace auspex::fit {

/// Fills machine's cores, nodes, memory, the most that the cache may have and the source from rows of kind "host":
/// "computer" (bytes: memory of a node, active: cores of a computer, ranks and nodes of the run, groups: nodes of one
/// computer, source: model and date), "probe" (seconds, spread; of several the fastest), and those of cache_sizes.hpp.
/// Throws InputError where one of the first two is missing.
void read_computer(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration);

/// busy_speed: a kernel's time alone over that with all cores busy, median over products; kernels that were not timed
/// alone and have no law are left out. Cache and memory bandwidth of all cores from copies; quantum_s from the time
/// that a core stays with one of two. Verdicts on "busy_cores" and "copies_together". Requires laws and cache_bytes.
void fit_sharing(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration);

}  // namespace auspex::fit
